import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { providerOf } from '../../src/resources/kinds/chat-webhooks.ts';
import { markedBlocks } from './code-blocks.ts';
import { canFollow, openReader, type Reader, ROOT } from './reader.ts';

const page = await readFile(join(ROOT, 'docs/schedules.md'), 'utf8');

let reader: Reader;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader.close());

describe('docs/schedules.md', () => {
  // One after the other: what a block makes, a later one may use, as for a reader.
  for (const block of markedBlocks(page)) {
    it.skipIf(!canFollow(block))(
      `line ${block.line}: the ${block.language} block does what it says`,
      () => reader.check(block),
    );
  }

  it('names the paths of the providers that are known', () => {
    const [, table = ''] = /<!-- webhooks -->([\s\S]*)<!-- \/webhooks -->/.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| ([A-Z][\w ]+?) +\| `(https:[^`]+)`/gm)];
    const known = rows.map(([, name = '', url = '']) => {
      const filled = url.replaceAll(/\{\w+\}/g, '1');
      return { name, provider: providerOf(new URL(filled))?.name };
    });
    expect(known).toEqual([
      { name: 'Feishu', provider: 'feishu' },
      { name: 'Lark', provider: 'lark' },
      { name: 'DingTalk', provider: 'dingtalk' },
      { name: 'WeCom', provider: 'wecom' },
      { name: 'Slack', provider: 'slack' },
      { name: 'Discord', provider: 'discord' },
      { name: 'Google Chat', provider: 'google-chat' },
    ]);
  });
});
