import { posix } from 'node:path';
import type { ConfigFiles } from '../../src/config/read/load.ts';

/** A file system of absolute paths and texts; a link is written `-> target`. */
export function memoryFiles(entries: Readonly<Record<string, string>>): ConfigFiles {
  const missing = (path: string) =>
    Object.assign(new Error(`no ${path}`), { code: 'ENOENT' as const });
  const realpath = (path: string): string => {
    const link = /^-> (.*)$/.exec(entries[path] ?? '')?.[1];
    return link === undefined ? path : realpath(posix.resolve(posix.dirname(path), link));
  };
  return {
    async read(path, maxBytes) {
      const text = entries[realpath(path)];
      if (text === undefined) throw missing(path);
      if (text.length > maxBytes) throw new Error('file is larger');
      return Buffer.from(text);
    },
    async list(path) {
      if (entries[path] !== undefined) return undefined;
      const names = Object.keys(entries)
        .filter((name) => name.startsWith(`${path}/`))
        .map((name) => name.slice(path.length + 1).replace(/\/.*$/, ''));
      if (names.length === 0) throw missing(path);
      return [...new Set(names)].reverse();
    },
    async realpath(path) {
      const target = realpath(path);
      const isThere = Object.keys(entries).some(
        (name) => name === target || name.startsWith(`${target}/`),
      );
      if (!isThere) throw missing(path);
      return target;
    },
  };
}
