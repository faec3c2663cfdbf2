// Starts the processes of the benchmark and reads what they cost from /proc.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Resolves with the first line of standard output or error that holds an address. */
export function startServer(args, options = {}) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  running.add(child);
  return new Promise((resolve, reject) => {
    let seen = '';
    const look = (data) => {
      seen += data;
      const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(seen)?.[0];
      if (!url) return;
      // The log of every request comes this way too: reading on would cost the load generator its CPU.
      child.stdout.off('data', look).resume();
      child.stderr.off('data', look).resume();
      resolve({ url, pid: child.pid, child, stop: () => stop(child) });
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', (code) => reject(new Error(`${args.join(' ')} exited with ${code}\n${seen}`)));
  });
}

function stop(child) {
  return new Promise((resolve) => {
    child.removeAllListeners('exit');
    child.on('exit', () => {
      running.delete(child);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

/** User and system CPU in microseconds since the process started. */
export function cpuMicros(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Memory of the process's own, and pages of files that the system may take back at any time. */
export function memoryMiB(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024;
  return { own: read('RssAnon'), mapped: read('RssFile') };
}
