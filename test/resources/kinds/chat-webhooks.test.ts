import { describe, expect, it } from 'vitest';
import { providerOf } from '../../../src/resources/kinds/chat-webhooks.ts';
import type { ChatProvider, OwnWebhook } from '../../../src/resources/kinds/chat-webhooks.ts';
import { verifies } from '../../requirements.ts';

/** One URL of each provider in the form of its documentation, and its answer when it takes a message. */
const OFFICIAL: Record<string, { url: string; taken: string; refused: string }> = {
  feishu: {
    url: 'https://open.feishu.cn/open-apis/bot/v2/hook/0f3c7a52-aaaa-4bbb-8ccc-0123456789ab',
    taken: '{"code":0,"data":{},"msg":"success"}',
    refused:
      '{"code":19001,"data":{},"msg":"param invalid: incoming webhook access token invalid"}',
  },
  lark: {
    url: 'https://open.larksuite.com/open-apis/bot/v2/hook/0f3c7a52-aaaa-4bbb-8ccc-0123456789ab',
    taken: '{"Extra":null,"StatusCode":0,"StatusMessage":"success"}',
    refused: '{"code":9499,"msg":"Bad Request","data":{}}',
  },
  dingtalk: {
    url: 'https://oapi.dingtalk.com/robot/send?access_token=0123456789abcdef',
    taken: '{"errcode":0,"errmsg":"ok"}',
    refused: '{"errcode":310000,"errmsg":"keywords not in content"}',
  },
  wecom: {
    url: 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=693a91f6-7aaa-4bc4-97a0-0ec2sifa5aaa',
    taken: '{"errcode":0,"errmsg":"ok"}',
    refused: '{"errcode":93000,"errmsg":"invalid webhook url"}',
  },
  slack: {
    url: 'https://hooks.slack.com/services/T00000000/B00000000/abcDEF123456',
    taken: 'ok',
    refused: 'no_service',
  },
  discord: {
    url: 'https://discord.com/api/webhooks/223704706495545344/3d89bb7572e0fb30-d8128_367b',
    taken: '{"id":"334385199974967042","content":"hello"}',
    refused: '{"message":"Unknown Webhook","code":10015}',
  },
  'google-chat': {
    url: 'https://chat.googleapis.com/v1/spaces/AAAA1234/messages?key=some-key&token=some-token%3D',
    taken: '{"name":"spaces/AAAA1234/messages/abc.abc","text":"hello"}',
    refused: '{"error":{"code":400,"message":"Invalid request","status":"INVALID_ARGUMENT"}}',
  },
};

const find = (url: string, own?: readonly OwnWebhook[]): ChatProvider | undefined =>
  providerOf(new URL(url), own);

const official = (name: string): ChatProvider => {
  const found = find(OFFICIAL[name]?.url ?? '');
  if (!found) throw new Error(`no provider ${name}`);
  return found;
};

describe('chat webhooks', () => {
  it.each(Object.entries(OFFICIAL))(
    verifies(
      'deployments.notification.official-path',
      'knows the official path of %s and nothing near it',
    ),
    (name, { url }) => {
      expect(find(url)?.name).toBe(name);
      const { host, pathname, search } = new URL(url);
      const near = [
        url.replace('https:', 'http:'),
        url.replace(host, `${host}:8443`),
        url.replace(host, `${host}.example.org`),
        url.replace(host, `x.${host}`),
        url.replace(host, `user@${host}`),
        url.replace(host, `example.org/${host}`),
        url.replace(pathname, `${pathname}/more`),
        url.replace(pathname, `/x${pathname}`),
        url.replace(pathname, `${pathname.slice(0, pathname.lastIndexOf('/'))}/`),
        `https://${host}/`,
        `${url}${search ? '&' : '?'}other=1`,
        `${url}#fragment`,
        ...(search ? [url.replace(search, ''), `${url}${search.replace('?', '&')}`] : []),
      ];
      expect(near.filter((candidate) => find(candidate))).toEqual([]);
    },
  );

  it.each(Object.entries(OFFICIAL))(
    verifies(
      'deployments.notification.test-outcome',
      'takes the success body of %s for success, and no status alone',
    ),
    (name, { taken, refused }) => {
      const { isDelivered } = official(name);
      expect(isDelivered({ status: 200, body: taken })).toBe(true);
      for (const body of [refused, '', '{}', '<html>ok</html>', 'null', '[0]'])
        expect(isDelivered({ status: 200, body })).toBe(false);
      for (const status of [302, 400, 404, 429, 500])
        expect(isDelivered({ status, body: taken })).toBe(false);
    },
  );

  it('says the text in the way of each provider, and mentions nobody', () => {
    const bodies = Object.fromEntries(
      Object.keys(OFFICIAL).map((name) => {
        const sent = official(name).toRequest(new URL(OFFICIAL[name]?.url ?? ''), 'a & <!channel>');
        return [name, JSON.parse(sent.body) as unknown];
      }),
    );
    const text = 'a & ‹!channel›';
    expect(bodies).toEqual({
      feishu: { msg_type: 'text', content: { text } },
      lark: { msg_type: 'text', content: { text } },
      dingtalk: { msgtype: 'text', text: { content: text } },
      wecom: { msgtype: 'text', text: { content: text } },
      slack: { text: 'a &amp; ‹!channel›' },
      discord: { content: text, allowed_mentions: { parse: [] } },
      'google-chat': { text },
    });
  });

  it('posts to the saved URL itself, and asks Discord to wait for the message', () => {
    const targets = Object.entries(OFFICIAL).map(([name, { url }]) => [
      name,
      official(name).toRequest(new URL(url), 'x').url,
    ]);
    const { discord, ...others } = Object.fromEntries(targets) as Record<string, string>;
    expect(discord).toBe(`${OFFICIAL['discord']?.url}?wait=true`);
    for (const [name, url] of Object.entries(others)) expect(url).toBe(OFFICIAL[name]?.url);
  });
});

describe("the operator's own chat webhooks", () => {
  const own: OwnWebhook = {
    name: 'ours',
    url: 'http://127.0.0.1:9000/bots',
    format: 'slack',
    success: 'provider',
  };

  it(
    verifies(
      'deployments.notification.official-path',
      'are accepted at their very origin and below their path alone',
    ),
    () => {
      for (const url of ['http://127.0.0.1:9000/bots', 'http://127.0.0.1:9000/bots/7?key=a'])
        expect(find(url, [own])?.name).toBe('ours');
      for (const url of [
        'https://127.0.0.1:9000/bots/7',
        'http://127.0.0.1:9001/bots/7',
        'http://localhost:9000/bots/7',
        'http://127.0.0.1:9000/bots-of-others',
        'http://127.0.0.1:9000/bots/../admin',
        'http://127.0.0.1:9000/bots/%2e%2e/admin',
        'http://user:secret@127.0.0.1:9000/bots/7',
      ])
        expect(find(url, [own])).toBeUndefined();
      expect(find('http://127.0.0.1:9000/bots/7')).toBeUndefined();
    },
  );

  it('succeed as the provider of their format does, or by the status alone', () => {
    const strict = find('http://127.0.0.1:9000/bots/7', [own]);
    const lenient = find('http://127.0.0.1:9000/bots/7', [{ ...own, success: 'status' }]);
    expect(strict?.isDelivered({ status: 200, body: 'thanks' })).toBe(false);
    expect(strict?.isDelivered({ status: 200, body: 'ok' })).toBe(true);
    expect(lenient?.isDelivered({ status: 204, body: '' })).toBe(true);
    expect(lenient?.isDelivered({ status: 302, body: 'ok' })).toBe(false);
  });
});
