// Runs the steps of a run beside each other, each as soon as those it needs have passed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Steps by name: `{ run: [command, ...argv], needs?: [name], env?, isQuiet?, isLive? }`. What a step prints comes
 * in one piece at its end, with `isLive` at once; with `isQuiet` only what it writes on stderr. A step is
 * left out where one that it needs has failed. Resolves with `{ name, seconds, passed }` of each step that
 * ran, in the order of their ends.
 */
export async function runSteps(steps, { signal, write = print } = {}) {
  const ended = [];
  const begun = new Map();
  for (const name of Object.keys(steps)) begin(name);
  await Promise.all(begun.values());
  return ended;

  /** Resolves with true when the step has passed. */
  function begin(name) {
    if (!begun.has(name)) begun.set(name, runAfterNeeds(name, steps[name]));
    return begun.get(name);
  }

  async function runAfterNeeds(name, step) {
    const needs = await Promise.all((step.needs ?? []).map(begin));
    if (needs.includes(false)) return false;
    const start = performance.now();
    const { passed, output } = await runCommand(step, signal);
    const seconds = Math.round((performance.now() - start) / 1_000);
    ended.push({ name, seconds, passed });
    write(`== ${name}: ${seconds}s${passed ? '' : ' FAILED'}\n${output}`);
    return passed;
  }
}

/** Resolves with whether the command ended with 0, and what it printed. */
export async function runCommand({ run: [command, ...argv], isQuiet, isLive, env }, signal) {
  const stdio = isLive ? 'inherit' : ['ignore', isQuiet ? 'ignore' : 'pipe', 'pipe'];
  const child = spawn(command, argv, { stdio, signal, env: { ...process.env, ...env } });
  const parts = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => parts.push(part));
  const passed = await once(child, 'close').then(
    ([code]) => code === 0,
    (error) => {
      parts.push(Buffer.from(`${error.message}\n`));
      return false;
    },
  );
  return { passed, output: Buffer.concat(parts).toString() };
}

function print(text) {
  process.stdout.write(text);
}
