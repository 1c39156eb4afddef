"""What commands show people at a terminal."""
