// Where the demo plays: a directory of its own, the commands in it, and the gateway that they talk to.
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const MAIN = new URL('../dist/lib/main.js', import.meta.url).href;
const BINARY = fileURLToPath(new URL('../bin/gateway.js', import.meta.url));
export const STEP_TIMEOUT_MS = 60_000;

export function tell(text) {
  console.log(`\n── ${text}`);
}

export function expect(condition, otherwise) {
  if (!condition) throw new Error(otherwise);
}

/** A desk with these files; nothing of the person's own settings reaches it. */
export function createStage() {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-demo-'));
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('GATEWAY_')),
  );
  // Idle connections of the demo's own clients are not waited for.
  env.GATEWAY_DRAIN_IDLE = '50ms';
  const running = new Set();

  // Commands run in this process: to load one takes longer than what it does.
  const run = async (words, show) => {
    const { main } = await import(MAIN);
    let text = '';
    let atLineStart = true;
    const stdout = Object.assign(new EventEmitter(), {
      write(piece) {
        text += piece;
        // Indented as it arrives, so that a stream is seen to be one.
        show((atLineStart ? '    ' : '') + String(piece).replace(/\n(?!$)/g, '\n    '));
        atLineStart = String(piece).endsWith('\n');
        return true;
      },
    });
    const signals = new EventEmitter();
    const overdue = setTimeout(() => signals.emit('SIGTERM'), STEP_TIMEOUT_MS);
    const code = await main({
      argv: words,
      env,
      cwd: directory,
      stdin: Readable.from([]),
      stdout,
      stderr: process.stderr,
      signals,
      exit: (status) => process.exit(status),
    });
    clearTimeout(overdue);
    expect(code === 0, `gateway ${words.join(' ')} ended with ${code}`);
    return text;
  };

  return {
    /** Of every process on the stage. */
    env,
    /** Writes a file, and shows it. */
    write(name, text, { isShown = true } = {}) {
      writeFileSync(join(directory, name), text);
      if (isShown) console.log(text.replace(/^/gm, '    ').trimEnd());
    },
    /** Runs the command where everybody sees it; gives what it wrote to stdout. */
    gateway(...words) {
      const shown = words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ');
      console.log(`    $ gateway ${shown}`);
      return run(words, (piece) => process.stdout.write(piece));
    },
    quietly: (...words) => run(words, () => {}),
    /** The command as a process that others talk to on stdin and stdout. */
    talk(...words) {
      const child = spawn(process.execPath, [BINARY, ...words], {
        cwd: directory,
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      running.add(child);
      return child;
    },
    /** A gateway in the directory, with further flags of Node.js; gives its address and what ends it. */
    async start({ flags = [], env: more } = {}) {
      const child = spawn(process.execPath, [...flags, BINARY, 'start'], {
        cwd: directory,
        env: { ...env, ...more },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      running.add(child);
      const ended = once(child, 'exit');
      const end = async (signal) => {
        child.kill(signal);
        const [code, by] = await ended;
        return code ?? by;
      };
      return { url: await addressOf(child), end };
    },
    clear() {
      for (const child of running) child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function addressOf(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`no start in time\n${said}`)), STEP_TIMEOUT_MS);
    child.on('exit', (code) => reject(new Error(`the gateway ended with ${code}\n${said}`)));
    child.stderr.setEncoding('utf8').on('data', (piece) => {
      said = `${said}${piece}`.slice(-10_000);
      const url = /gateway listening on (\S+)\n/.exec(said)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
}
