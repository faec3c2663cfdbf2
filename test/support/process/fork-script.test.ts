import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forkScript } from './fork-script.ts';
import { directoryOfTest } from './directory-of-test.ts';

async function script(text: string): Promise<string> {
  const directory = await directoryOfTest();
  const path = join(directory, 'script.mjs');
  await writeFile(path, text);
  return path;
}

describe('a script in a process of its own', () => {
  it('is there when it has said so', async () => {
    const child = await forkScript(await script(`process.send(process.argv[2]);`), ['hello']);
    expect(child.pid).toBeGreaterThan(0);
  });

  it('tells why it ended before', async () => {
    const path = await script(`throw new Error('no room: ' + process.env.WHY);`);
    const started = forkScript(path, [], { env: { WHY: 'all is full' } });
    await expect(started).rejects.toThrow(/ended with 1 .*no room: all is full/s);
  });

  it('tells the signal that ended it', async () => {
    const path = await script(`process.kill(process.pid, 'SIGKILL');`);
    await expect(forkScript(path, [])).rejects.toThrow(/ended with SIGKILL/);
  });

  it('is given up when it stays silent', async () => {
    const path = await script(`console.error('I wait'); setInterval(() => {}, 1_000);`);
    const started = forkScript(path, [], { withinMs: 1_500 });
    await expect(started).rejects.toThrow(/not ready within 1500 ms/);
  });
});
