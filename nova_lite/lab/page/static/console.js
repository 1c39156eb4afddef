// The log of a guest, read again while the page is visible.
const AGAIN_MS = 1000;
const log = document.getElementById('log');
const problem = document.getElementById('problem');
// As noVNC gets it: path=?token=TOKEN
const path = new URLSearchParams(location.search).get('path') ?? location.search;
const token = new URLSearchParams(path.replace(/^\?/, '')).get('token') ?? '';

async function read() {
  if (!document.hidden) {
    try {
      const response = await fetch(`log?token=${encodeURIComponent(token)}`);
      const answer = await response.json();
      problem.textContent = answer.error ?? '';
      if (response.ok && log.textContent !== answer.output) log.textContent = answer.output;
      // The token will not become valid again.
      if (response.status === 404) return;
    } catch {
      problem.textContent = 'The cloud does not answer.';
    }
  }
  setTimeout(read, AGAIN_MS);
}
read();
