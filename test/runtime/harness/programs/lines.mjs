// A program that speaks JSON lines. What it does is what the text of the turn says.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const note = (what) => appendFileSync(process.env.NOTES, `${JSON.stringify(what)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const read = async () => {
  const { value, done } = await lines.next();
  if (done) process.exit(0);
  note(JSON.parse(value));
  return JSON.parse(value);
};
const forever = () => setInterval(() => undefined, 1_000_000);

const DEEDS = {
  async speak() {
    say({ type: 'thinking', text: 'Hm.' });
    say({ type: 'delta', text: 'Good ' });
    say({ type: 'delta', text: 'day' });
    say({ type: 'message', text: 'Good day.' });
    const input = '{"pattern":"x","id":2512292042121000001,"n":[1.0]}';
    process.stdout.write(`{"type":"tool_use","id":"t1","name":"grep","input":${input}}\n`);
    say({ type: 'tool_result', tool_use_id: 't1', content: 'found' });
    say({ type: 'delta', text: 'Bye.' });
    say({ type: 'end' });
  },
  async ask() {
    say({ type: 'tool_use', id: 't2', name: 'bash', input: { command: 'ls' }, ask: true });
    const { result } = await read();
    if (result === 'allow') say({ type: 'tool_result', tool_use_id: 't2', content: 'a b' });
    say({ type: 'message', text: `It was ${result}.` });
    say({ type: 'end' });
  },
  async garbage() {
    process.stdout.write('Welcome to the program!\n');
  },
  async unknown() {
    say({ type: 'dance' });
  },
  async line() {
    process.stdout.write('{"type":"delta","text":"');
    const more = () => process.stdout.write('x'.repeat(65_536), more);
    more();
    forever();
  },
  async flood() {
    // Empty lines count, too, and are read at less cost.
    const some = `{"type":"delta","text":"y"}\n${'\n'.repeat(999)}`;
    const more = () => process.stdout.write(some, more);
    more();
    forever();
  },
  async noise() {
    for (let n = 0; n < 3_000; n++) process.stderr.write(`noise ${n} ${'z'.repeat(3_000)}\n`);
    say({ type: 'message', text: 'Quiet now.' });
    say({ type: 'end' });
  },
  async stubborn() {
    process.on('SIGTERM', () => note('asked to end'));
    const script = 'trap "" TERM HUP; sleep 1000 & wait';
    spawn('setsid', ['sh', '-c', script], { stdio: 'ignore', detached: true });
    spawn('env', ['-i', '/usr/bin/env', 'sleep', '1000'], { stdio: 'ignore' });
    process.stdin.on('close', forever);
    note('stubborn');
    await new Promise(() => undefined);
  },
  async error() {
    say({ type: 'error', message: 'out of paper' });
  },
};

for (;;) {
  const message = await read();
  if (message.type === 'turn') await DEEDS[message.input.at(-1).content[0].text]();
}
