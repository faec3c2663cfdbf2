import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { formatDiagnostics } from '../../src/config/diagnostic.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { SURFACES } from '../../src/server/public-routes.ts';
import { verifies } from '../requirements.ts';
import { ask, BINARY, startGateway, type TestGateway } from '../support/gateway.ts';
import { type CodeBlock, markedBlocks, sessionSteps, toPattern } from './code-blocks.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const README = join(ROOT, 'README.md');
const ADDRESS = 'http://127.0.0.1:8787';
/** What the page imports. */
const CLIENTS = ['openai', '@anthropic-ai/sdk', '@google/genai'];
const page = await readFile(README, 'utf8');
const blocks = markedBlocks(page);
const hasCurl = isInstalled('curl');

let gateway: TestGateway;
/** Where a reader's terminal stands: beside `gateway.yaml`, with the command on the path. */
let directory: string;

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'gateway-readme-')));
  const bin = join(directory, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'gateway'), `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`);
  await chmod(join(bin, 'gateway'), 0o755);
  await mkdir(join(directory, 'node_modules'));
  await symlink(ROOT, join(directory, 'node_modules', 'agent-gateway'));
  for (const client of CLIENTS) {
    const link = join(directory, 'node_modules', client);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', client), link);
  }
  const config = await readFile(join(ROOT, 'gateway.yaml.example'), 'utf8');
  gateway = await startGateway(withoutPort(config), { binary: true, directory });
});

afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

describe('README.md', () => {
  it(verifies('console-free-bootstrap', 'shows what a first start prints'), () => {
    const [block] = blocks.filter(({ mark }) => mark === 'start');
    expect(gateway.log()).toMatch(toPattern(here(block?.code ?? 'nothing is shown')));
  });

  // One after the other: what a block makes, a later one may use, as for a reader.
  for (const block of blocks.filter(({ mark }) => mark !== 'start')) {
    it.skipIf(!hasCurl && block.code.includes('curl '))(
      `line ${block.line}: the ${block.language} block does what it says`,
      () => check(block),
    );
  }

  it(verifies('cli.exit.table', 'has the table of exit codes'), () => {
    const [, table = ''] = /<!-- exit codes -->([\s\S]*)<!-- \/exit codes -->/.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)];
    expect(rows.map(([, code, meaning]) => ({ code: Number(code), meaning }))).toEqual(
      Object.values(EXIT),
    );
  });

  it('says truly what is served and what is not', async () => {
    const [, table = ''] = /^### Status\n([\s\S]*?)\n\n[^|\n]/m.exec(page) ?? [];
    const rows = table
      .split('\n')
      .filter((line) => /^\| [^-]/.test(line))
      .slice(1);
    const paths = (column: number) =>
      rows.flatMap((row) =>
        [...(row.split('|')[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
      );
    const isServed = async (path: string) => {
      const { body } = await ask(gateway.url + path, { key: gateway.adminKey });
      return body?.error !== 'no such path';
    };
    const served = paths(1);
    expect(served).toEqual(
      expect.arrayContaining(
        SURFACES.map(({ paths: [path = ''] }) => path.replace('/**', '/{model}:generateContent')),
      ),
    );
    expect(paths(2)).toContain('/v1/run');
    for (const path of served) expect(await isServed(path), path).toBe(true);
    for (const path of paths(2)) expect(await isServed(path), path).toBe(false);
  });

  it('links only to what is there', async () => {
    for (const [, target = ''] of page.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      await expect(readFile(join(ROOT, target)), target).resolves.toBeDefined();
    }
    for (const [, target = ''] of page.matchAll(/`((?:src|test|templates)\/[\w./-]+)`/g)) {
      expect(() => execFileSync('ls', [join(ROOT, target)]), target).not.toThrow();
    }
  });
});

async function check(block: CodeBlock): Promise<void> {
  if (block.file !== undefined) await writeFile(join(directory, block.file), block.code);
  switch (`${block.language} ${block.mark}`) {
    case 'sh test':
      await shell(here(block.code));
      return;
    case 'console test':
      for (const { command, output } of sessionSteps(block.code)) {
        expect(await shell(here(command)), command).toMatch(toPattern(here(output)));
      }
      return;
    case 'js test':
      expect(await script(here(block.code))).toContain('You said: Hello!');
      return;
    case 'yaml validate': {
      const { config, diagnostics } = await loadConfig({
        paths: ['-'],
        stdin: block.code,
        env: {},
        cwd: directory,
      });
      expect(formatDiagnostics(diagnostics, 'text')).toBe('');
      expect(config).toBeDefined();
      return;
    }
    default:
      throw new Error(`nobody knows how to check a block marked ${block.language} ${block.mark}`);
  }
}

/** Stdout of a command; what it exports is there for the next. */
async function shell(command: string): Promise<string> {
  const saved = '. ./exports 2>/dev/null || true';
  const whole = `${saved}\nset -euo pipefail\n${command}\nexport -p > ./exports`;
  const { stdout } = await execa('bash', ['-c', whole], {
    cwd: directory,
    env: environment(),
    extendEnv: false,
  });
  return `${stdout}\n`;
}

async function script(code: string): Promise<string> {
  await writeFile(join(directory, 'block.mjs'), code);
  return shell(`node block.mjs`);
}

function environment(): Record<string, string> {
  return { PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`, HOME: directory };
}

/** The page speaks of the usual port. */
function here(text: string): string {
  return text.replaceAll(ADDRESS, gateway.url);
}

function withoutPort(config: string): string {
  return config.replace(/^ +port: 8787\n/m, '');
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
