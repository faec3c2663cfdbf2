import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { directoryOfTest } from '../support/process/directory-of-test.ts';
import { ROOT } from './reader.ts';

/** Entries by the name that is imported. */
const ENTRIES = { 'agent-gateway': 'index', 'agent-gateway/plugin': 'plugin' };
/** A line of an entry that exports names of a file: whether types, the names, the file. */
const EXPORTED = /^export (type )?\{([^}]+)\} from '\.\/(.+)';$/gm;

interface Export {
  readonly name: string;
  readonly isType: boolean;
  /** Doc comment of its declaration. */
  readonly doc: string;
}

async function exportsOf(entry: string): Promise<Export[]> {
  const found: Export[] = [];
  const lines = await readFile(join(ROOT, `src/${entry}.ts`), 'utf8');
  for (const [, isType, names = '', file = ''] of lines.matchAll(EXPORTED)) {
    const text = await readFile(join(ROOT, 'src', file), 'utf8');
    for (const name of names.split(',').map((one) => one.trim().split(' as ')[0] ?? '')) {
      const kind = '(?:abstract |async )?(?:class|const|function|interface|type)';
      const [before = ''] = text.split(new RegExp(`^export ${kind} ${name}\\b`, 'm'));
      const doc = /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(before)?.[0] ?? '';
      found.push({ name, isType: isType !== undefined, doc });
    }
  }
  return found;
}

const exported = (await Promise.all(Object.values(ENTRIES).map(exportsOf))).flat();

function examplesIn(text: string): string[] {
  const blocks = text.matchAll(/@example\n \* ```ts\n([^]*?)\n \* ```/g);
  return [...blocks].map(([, code = '']) => code.replaceAll(/^ \* ?/gm, ''));
}

it('describes whatever the package exports, each value by an example', () => {
  expect(exported.length).toBeGreaterThan(25);
  for (const { name, isType, doc } of exported) {
    expect(doc, name).not.toBe('');
    if (!isType)
      expect(examplesIn(doc).join(), name).toContain(name.replace('definePlugin', 'define'));
  }
});

it('shows examples that compile', async () => {
  const directory = await directoryOfTest();
  const examples = exported.flatMap(({ doc }) => examplesIn(doc));
  for (const [index, code] of examples.entries())
    await writeFile(join(directory, `example-${index}.ts`), `${code}\nexport {};\n`);
  const paths = Object.entries(ENTRIES).map(([name, entry]) => [
    name,
    [join(ROOT, `dist/types/${entry}.d.ts`)],
  ]);
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      paths: Object.fromEntries(paths),
      typeRoots: [join(ROOT, 'node_modules/@types')],
      rootDir: '/',
      noUnusedLocals: false,
    },
    include: [join(directory, '*.ts')],
  };
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const run = promisify(execFile)(process.execPath, [tsc, '-p', directory]);
  const { stdout } = await run.catch(({ stdout: faults }: { stdout: string }) => ({
    stdout: faults,
  }));
  expect(stdout).toBe('');
});
