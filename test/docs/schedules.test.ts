import { describe, expect, it } from 'vitest';
import { providerOf } from '../../src/resources/kinds/chat-webhooks.ts';
import { followPage } from './follow-page.ts';

const { text: page } = await followPage('docs/schedules.md');

describe('docs/schedules.md', () => {
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
