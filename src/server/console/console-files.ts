import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { GatewayError } from '../../core/errors.ts';
import type { Reply } from '../../surfaces/http-exchange.ts';

/** Files of the built console, read once and kept. */
export interface ConsoleFiles {
  /** Answer to a path below `/console`, which begins with a slash or is empty. Throws `not_found`. */
  answer(path: string, headers: IncomingHttpHeaders): Promise<Reply>;
}

interface Variant {
  readonly bytes: Buffer;
  readonly etag: string;
}

interface ConsoleFile {
  readonly type: string;
  readonly plain: Variant;
  /** Absent where it is not worth the work. */
  readonly gzip?: Variant;
}

const toGzip = promisify(gzip);
const INDEX = '/index.html';
/** Folder of files whose names hold their hash. */
const HASHED = '/assets/';
const YEAR_SECONDS = 31_536_000;
/** Shorter files gain nothing. */
const MIN_CODED_BYTES = 1_024;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};
const IS_TEXT = /^text\/|json$|javascript|svg/;

/** Nothing but files of the gateway itself, and no page around the console. */
const POLICY = [
  "default-src 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  ...['script', 'style', 'img', 'font', 'connect', 'worker', 'manifest'].map(
    (kind) => `${kind}-src 'self'`,
  ),
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Reads the files of a folder. Every path without a file is the index: the page knows its own paths. */
export async function openConsoleFiles(folder: string): Promise<ConsoleFiles> {
  const files = await readAll(folder);
  return {
    async answer(path, headers) {
      const file = files.get(decoded(path)) ?? files.get(path.startsWith(HASHED) ? '' : INDEX);
      if (!file) throw missing(files);
      const packed = takesGzip(headers) ? file.gzip : undefined;
      const { bytes, etag } = packed ?? file.plain;
      const told: Record<string, string> = {
        ...HEADERS,
        'content-type': file.type,
        'cache-control': cachingOf(path, files),
        vary: 'accept-encoding',
        etag,
      };
      if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: told };
      if (packed) told['content-encoding'] = 'gzip';
      return { status: 200, headers: told, body: bytes };
    },
  };
}

function cachingOf(path: string, files: ReadonlyMap<string, ConsoleFile>): string {
  const isHashed = path.startsWith(HASHED) && files.has(decoded(path));
  return isHashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
}

function missing(files: ReadonlyMap<string, ConsoleFile>): GatewayError {
  const message =
    files.size === 0
      ? 'this gateway was built without the console; build it with: npm run build'
      : 'the console has no such file';
  return new GatewayError('not_found', { message });
}

async function readAll(folder: string): Promise<Map<string, ConsoleFile>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  const paths = found
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const files = paths.map(async (path) => {
    const name = `/${relative(folder, path).split(sep).join('/')}`;
    return [name, await toFile(name, await readFile(path))] as const;
  });
  return new Map(await Promise.all(files));
}

async function toFile(name: string, content: Buffer): Promise<ConsoleFile> {
  const type = TYPES[extname(name)] ?? 'application/octet-stream';
  const plain = toVariant(content);
  const isWorth = IS_TEXT.test(type) && content.length >= MIN_CODED_BYTES;
  return isWorth ? { type, plain, gzip: toVariant(await toGzip(content)) } : { type, plain };
}

function toVariant(bytes: Buffer): Variant {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, etag: `"${hash}"` };
}

function takesGzip(headers: IncomingHttpHeaders): boolean {
  const accepted = headers['accept-encoding']?.toString() ?? '';
  return /\bgzip\b(?!;\s*q=0(?:\.0*)?(?:,|$))/.test(accepted);
}

function isKnown(told: string | undefined, etag: string): boolean {
  const tags = told?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
