// A harness that speaks JSON lines: each turn leaves a line in a file and is answered after a moment.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type !== 'turn') continue;
  const mark = /#(\w+)#/.exec(JSON.stringify(message.input.at(-1)))?.[1];
  appendFileSync(process.env.CHAOS_NOTES, `${mark}\n`);
  await sleep(150);
  say({ type: 'message', text: `done #${mark}#` });
  say({ type: 'end' });
}
