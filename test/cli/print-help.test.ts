import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import type { CliIo } from '../../src/cli/io.ts';
import { main } from '../../src/cli/print-help.ts';

async function helpFor(stdout: object, env: Record<string, string> = {}): Promise<string> {
  let said = '';
  const sink = { ...stdout, write: (text: string) => void (said += text) };
  const place = { HOME: '/nonexistent', XDG_DATA_HOME: '/nonexistent', ...env };
  const io = { argv: ['--help'], env: place, stdout: sink } as unknown as CliIo;
  expect(await main(io)).toBe(0);
  return said;
}

const isPlain = (text: string): boolean => text === stripVTControlCharacters(text);

it('prints the help in colours on a terminal alone', async () => {
  const onTerminal = await helpFor({ isTTY: true });
  expect(isPlain(onTerminal)).toBe(false);
  const plain = stripVTControlCharacters(onTerminal);
  expect(plain).toContain('gateway start');
  expect(await helpFor({})).toBe(plain);
  expect(await helpFor({ isTTY: false })).toBe(plain);
  expect(await helpFor({ isTTY: true }, { NO_COLOR: '1' })).toBe(plain);
});
