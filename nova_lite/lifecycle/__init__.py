"""Operations on servers that several daemons need: intents of moves, deletion, discovery."""
