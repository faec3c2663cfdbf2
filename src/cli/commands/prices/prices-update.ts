import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { withProxiedFetch } from '../../../upstream/proxy/proxied-fetch.ts';
import { proxyIn } from '../../../upstream/proxy/proxy-error.ts';
import { createProxyRules, ProxySettingError } from '../../../upstream/proxy/proxy-rules.ts';
import { MAX_PRICE_LIST_BYTES } from '../../../usage/prices/vendor-prices.ts';
import { CliError, usageError } from '../../cli-error.ts';
import type { CommandContext } from '../../context.ts';
import { priceListText } from '../../output/price-list-text.ts';
import type { InputOf, RunOf } from '../../commands.ts';

export const run: RunOf<'prices update'> = async (input) => {
  const { args, context } = input;
  const from = args.source;
  const expected = readSum(input);
  const isUrl = /^https?:\/\//i.test(from);
  if (isUrl && expected === undefined)
    throw usageError(
      '--sha256 is missing: a list from a URL is taken only with the checksum that it must have',
      'take it from whoever publishes the list, or save the list, look at it and use the file',
    );
  const bytes = isUrl ? await readUrl(from, context) : await readFile(from, context);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (expected === undefined)
    throw usageError(
      `--sha256 is missing: ${from} has the sum ${sha256}; nothing is changed`,
      `compare it with what the publisher of the list tells, then add --sha256 ${sha256}`,
    );
  if (sha256 !== expected)
    throw new CliError({
      code: 'checksum_mismatch',
      message: `${from} has the SHA-256 ${sha256}, not ${expected}; nothing is changed`,
      hint: 'the list is not the one that you expect: look at it before you use its sum',
    });
  const text = toText(bytes, from);
  const client = await context.connect();
  const view = await client.operators.keepPrices({ text, sha256, from }, context.signal);
  return { data: view, text: priceListText(view) };
};

function readSum({ flags }: InputOf<'prices update'>): string | undefined {
  const given = flags.sha256;
  if (given === undefined || /^[0-9a-f]{64}$/i.test(given)) return given?.toLowerCase();
  throw usageError('--sha256 takes 64 hexadecimal digits', 'sha256sum FILE prints them');
}

async function readFile(from: string, { io }: CommandContext): Promise<Buffer> {
  const file = await open(resolve(io.cwd, from)).catch(() => undefined);
  if (!file) throw usageError(`${from} cannot be read`, 'name a file, or an http or https URL');
  try {
    return await collect(file.createReadStream({ autoClose: false }), from);
  } catch (thrown) {
    if (thrown instanceof CliError) throw thrown;
    throw usageError(`${from} is not a file that can be read`);
  } finally {
    await file.close();
  }
}

async function readUrl(from: string, context: CommandContext): Promise<Buffer> {
  const { io, signal, timeoutMs } = context;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const read = async (fetch: typeof globalThis.fetch): Promise<Buffer> => {
    const answer = await fetch(from, { signal: limit, headers: { accept: 'application/json' } });
    if (!answer.ok || !answer.body) throw unread(from, `it answers ${answer.status}`);
    return collect(answer.body, from);
  };
  try {
    if (io.fetch) return await read(io.fetch);
    return await withProxiedFetch(createProxyRules(io.env), read);
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof CliError) throw thrown;
    throw unread(from, limit.aborted ? 'it takes too long' : reasonOf(thrown), thrown);
  }
}

function unread(from: string, why: string, cause?: unknown): CliError {
  return new CliError({
    code: 'prices_unread',
    message: `${from} cannot be read: ${why}`,
    hint: 'nothing is changed; the URL is read from this machine',
    cause,
  });
}

function reasonOf(thrown: unknown): string {
  const { message, cause } = thrown as Error & { cause?: { code?: unknown } };
  if (thrown instanceof ProxySettingError) return message;
  const proxy = proxyIn(cause);
  const code = typeof cause?.code === 'string' ? cause.code : message;
  return proxy === undefined ? code : `${code}, ${proxy}`;
}

async function collect(chunks: AsyncIterable<Uint8Array>, from: string): Promise<Buffer> {
  const kept: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MAX_PRICE_LIST_BYTES)
      throw new CliError({
        code: 'too_large',
        message: `${from} is larger than a list of prices may be: ${MAX_PRICE_LIST_BYTES} bytes`,
      });
    kept.push(chunk);
  }
  return Buffer.concat(kept);
}

function toText(bytes: Buffer, from: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usageError(`${from} is not a list of prices: it is no UTF-8 text`);
  }
}
