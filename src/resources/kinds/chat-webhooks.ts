import { parseJsonObject } from '../../core/json/value.ts';

/** Answer of a chat provider to a message. */
export interface ChatAnswer {
  readonly status: number;
  readonly body: string;
}

/** Form of a message on the wire, and the sign that it was taken. */
interface ChatFormat {
  body(text: string): Readonly<Record<string, unknown>>;
  /** Parameters without which the answer does not say whether the message was taken. */
  readonly query?: Readonly<Record<string, string>>;
  /** The HTTP status was in the range of success, which is not enough. */
  isTaken(body: string): boolean;
}

/** Names of the formats, for the server's configuration. */
export const CHAT_FORMATS = [
  'feishu',
  'dingtalk',
  'wecom',
  'slack',
  'discord',
  'google-chat',
] as const;

export type ChatFormatName = (typeof CHAT_FORMATS)[number];

/** A bot of the operator's own, in addition to the providers' (`server.notifications.webhooks`). */
export interface OwnWebhook {
  readonly name: string;
  /** Origin and the beginning of the path; http and private addresses only if it says so. */
  readonly url: string;
  readonly format: ChatFormatName;
  /** `provider`: as the provider of the format says it; `status`: every 2xx. */
  readonly success: 'provider' | 'status';
}

/** Takes messages at the webhook URLs that it accepts. */
export interface ChatProvider {
  readonly name: string;
  accepts(url: URL): boolean;
  toRequest(url: URL, text: string): { readonly url: string; readonly body: string };
  /** Recognises the provider's own success body. */
  isDelivered(answer: ChatAnswer): boolean;
}

const FORMATS: Readonly<Record<ChatFormatName, ChatFormat>> = {
  feishu: {
    body: (text) => ({ msg_type: 'text', content: { text } }),
    isTaken: (body) => hasZero(body, 'code') || hasZero(body, 'StatusCode'),
  },
  dingtalk: {
    body: (content) => ({ msgtype: 'text', text: { content } }),
    isTaken: (body) => hasZero(body, 'errcode'),
  },
  wecom: {
    body: (content) => ({ msgtype: 'text', text: { content } }),
    isTaken: (body) => hasZero(body, 'errcode'),
  },
  slack: {
    body: (text) => ({ text: text.replaceAll('&', '&amp;') }),
    isTaken: (body) => body.trim() === 'ok',
  },
  discord: {
    body: (content) => ({ content, allowed_mentions: { parse: [] } }),
    query: { wait: 'true' },
    isTaken: (body) => hasText(body, 'id'),
  },
  'google-chat': {
    body: (text) => ({ text }),
    isTaken: (body) => hasText(body, 'name'),
  },
};

interface OfficialPath {
  readonly name: string;
  readonly format: ChatFormatName;
  readonly host: string;
  readonly path: RegExp;
  /** Parameters that the URL has, each once and not empty, and no others. */
  readonly query?: readonly string[];
}

/** Paths of the providers' custom bots, as their documentation gives them. */
const OFFICIAL: readonly OfficialPath[] = [
  {
    name: 'feishu',
    format: 'feishu',
    host: 'open.feishu.cn',
    path: /^\/open-apis\/bot\/v2\/hook\/[\w-]{1,128}$/,
  },
  {
    name: 'lark',
    format: 'feishu',
    host: 'open.larksuite.com',
    path: /^\/open-apis\/bot\/v2\/hook\/[\w-]{1,128}$/,
  },
  {
    name: 'dingtalk',
    format: 'dingtalk',
    host: 'oapi.dingtalk.com',
    path: /^\/robot\/send$/,
    query: ['access_token'],
  },
  {
    name: 'wecom',
    format: 'wecom',
    host: 'qyapi.weixin.qq.com',
    path: /^\/cgi-bin\/webhook\/send$/,
    query: ['key'],
  },
  {
    name: 'slack',
    format: 'slack',
    host: 'hooks.slack.com',
    path: /^\/services\/\w{1,64}\/\w{1,64}\/\w{1,128}$/,
  },
  {
    name: 'discord',
    format: 'discord',
    host: 'discord.com',
    path: /^\/api\/(v\d{1,3}\/)?webhooks\/\d{1,32}\/[\w-]{1,256}$/,
  },
  {
    name: 'google-chat',
    format: 'google-chat',
    host: 'chat.googleapis.com',
    path: /^\/v1\/spaces\/[\w-]{1,128}\/messages$/,
    query: ['key', 'token'],
  },
];

/**
 * Provider that takes messages at a webhook URL; undefined when it is neither the official path of
 * a known provider nor one of the operator's own (requirement
 * deployments.notification.official-path).
 */
export function providerOf(url: URL, own: readonly OwnWebhook[] = []): ChatProvider | undefined {
  if (url.username || url.password || url.hash) return undefined;
  return [...PROVIDERS, ...own.map(toOwnProvider)].find((provider) => provider.accepts(url));
}

const PROVIDERS: readonly ChatProvider[] = OFFICIAL.map((official) => ({
  ...inFormat(official.format),
  name: official.name,
  accepts: (url) =>
    url.protocol === 'https:' &&
    url.host === official.host &&
    official.path.test(url.pathname) &&
    hasExactly(url.searchParams, official.query ?? []),
}));

function toOwnProvider({ name, url, format, success }: OwnWebhook): ChatProvider {
  const place = new URL(url);
  const provider = { ...inFormat(format), name };
  return {
    ...provider,
    accepts: (candidate) =>
      candidate.origin === place.origin && isBelow(candidate.pathname, place.pathname),
    isDelivered: success === 'status' ? isSuccess : (answer) => provider.isDelivered(answer),
  };
}

function inFormat(name: ChatFormatName): Pick<ChatProvider, 'toRequest' | 'isDelivered'> {
  const format = FORMATS[name];
  return {
    toRequest(url, text) {
      const target = new URL(url);
      for (const [key, value] of Object.entries(format.query ?? {}))
        target.searchParams.set(key, value);
      return { url: target.href, body: JSON.stringify(format.body(withoutMarkup(text))) };
    },
    isDelivered: (answer) => isSuccess(answer) && format.isTaken(answer.body),
  };
}

/** Angle brackets are how some of them mention a whole channel: text that we pass on must not. */
function withoutMarkup(text: string): string {
  return text.replaceAll('<', '\u2039').replaceAll('>', '\u203a');
}

const isSuccess = ({ status }: ChatAnswer): boolean => status >= 200 && status < 300;

/** `/bots` is a beginning of `/bots` and `/bots/7`, not of `/bots-of-others`. */
function isBelow(path: string, beginning: string): boolean {
  return path === beginning || path.startsWith(beginning.replace(/\/?$/, '/'));
}

function hasExactly(query: URLSearchParams, names: readonly string[]): boolean {
  return query.size === names.length && names.every((name) => query.get(name));
}

function hasZero(body: string, member: string): boolean {
  return parseJsonObject(body)?.[member] === 0;
}

function hasText(body: string, member: string): boolean {
  const value = parseJsonObject(body)?.[member];
  return typeof value === 'string' && value !== '';
}
