import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeConfigFiles, readSources } from '../../../src/config/read/load.ts';
import { memoryFiles } from '../memory-files.ts';

const files = memoryFiles({
  '/etc/b.yaml': 'b: 1',
  '/etc/conf/z.yml': 'z: 1',
  '/etc/conf/a.json': '{"a":1}',
  '/etc/conf/.hidden.yaml': 'h: 1',
  '/etc/conf/notes.md': '# no',
  '/etc/conf/deeper/c.yaml': 'c: 1',
});

function read(paths: string[], stdin?: string) {
  return readSources({ paths, cwd: '/etc', files, ...(stdin !== undefined && { stdin }) });
}

describe('readSources', () => {
  it('reads files, directories and standard input, each once, in the order of their paths', async () => {
    const expected = ['b.yaml', 'conf/a.json', 'conf/z.yml', 'stdin'];
    for (const paths of [
      ['b.yaml', 'conf', '-'],
      ['-', 'conf/z.yml', 'conf', './b.yaml', 'b.yaml'],
    ]) {
      const { sources, diagnostics } = await read(paths, 'x: 1');
      expect(diagnostics).toEqual([]);
      expect(sources.map(({ file }) => file.replace('../', ''))).toEqual(expected);
      expect(sources.map(({ directory }) => directory)).toEqual([
        '/etc',
        '/etc/conf',
        '/etc/conf',
        '/etc',
      ]);
    }
  });

  it('reports every path that it cannot read', async () => {
    const { diagnostics } = await read(['nowhere.yaml', 'conf/deeper', 'missing', '-']);
    expect(diagnostics.map(({ file, message }) => `${file}: ${message}`)).toEqual([
      'nowhere.yaml: cannot be read: no such file or directory',
      'missing: cannot be read: no such file or directory',
      'stdin: nothing was given on standard input',
    ]);
  });

  it('refuses what is too large or no UTF-8 on a real file system', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gateway-load-'));
    try {
      await writeFile(join(directory, 'large.yaml'), Buffer.alloc(4 * 1024 * 1024 + 1, 'a'));
      await writeFile(join(directory, 'latin.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xe9]));
      await writeFile(join(directory, 'good.yaml'), 'a: é');
      const { sources, diagnostics } = await readSources({
        paths: [directory],
        cwd: directory,
        files: nodeConfigFiles,
      });
      expect(sources.map(({ text }) => text)).toEqual(['a: é']);
      expect(diagnostics.map(({ message }) => message)).toEqual([
        'cannot be read: file is larger than 4194304 bytes',
        'cannot be read: is not valid UTF-8',
      ]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
