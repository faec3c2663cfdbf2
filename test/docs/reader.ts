import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect } from 'vitest';
import { formatDiagnostics } from '../../src/config/source/diagnostic.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { putCommand } from '../support/process/built-command.ts';
import { type CodeBlock, sessionSteps, toPattern } from './code-blocks.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8787';
/** What the pages import. */
const CLIENTS = [
  'openai',
  '@anthropic-ai/sdk',
  '@google/genai',
  '@modelcontextprotocol/sdk',
  'ai',
  '@ai-sdk/openai',
];

/** A folder with a terminal. */
export interface Desk {
  readonly directory: string;
  /** Does what a block says, and expects what it promises. */
  check(block: CodeBlock): Promise<void>;
  /** Ends the gateways that were started there, too. */
  close(): Promise<void>;
}

/** Who follows a page block by block, beside the gateway that `npm start` starts. */
export interface Reader extends Desk {
  readonly gateway: TestGateway;
  /** The page speaks of the usual port. */
  here(text: string): string;
}

export async function openDesk(): Promise<Desk> {
  const directory = await newDesk();
  const command = await putCommand(join(directory, 'bin'));
  return {
    directory,
    check: (block) => check(block, directory),
    async close() {
      endProcessesOf(directory);
      await command.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export async function openReader(): Promise<Reader> {
  const desk = await openDesk();
  const { directory } = desk;
  const config = await readFile(join(ROOT, 'gateway.yaml.example'), 'utf8');
  const gateway = await startGateway(withoutPort(config), { binary: true, directory });
  const here = (text: string): string => text.replaceAll(ADDRESS, gateway.url);
  return {
    ...desk,
    gateway,
    here,
    check: (block) => desk.check({ ...block, code: here(block.code) }),
    async close() {
      await gateway.stop();
      await desk.close();
    },
  };
}

/** Kills what a block started and a failed one did not stop: processes that work in the folder. */
function endProcessesOf(directory: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const place = readlinkSync(`/proc/${pid}/cwd`);
      if (place === directory || place.startsWith(`${directory}/`))
        process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended meanwhile, or is not ours.
    }
  }
}

/** Blocks that call what this machine lacks cannot be followed on it. */
export function canFollow({ code }: CodeBlock): boolean {
  return hasCurl || !code.includes('curl ');
}

const hasCurl = isInstalled('curl');

/** Where a reader's terminal stands: a directory with the clients, and `bin` for the command. */
async function newDesk(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'gateway-reader-')));
  await mkdir(join(directory, 'bin'));
  await mkdir(join(directory, 'node_modules'));
  await symlink(ROOT, join(directory, 'node_modules', 'agent-gateway'));
  for (const client of CLIENTS) {
    const link = join(directory, 'node_modules', client);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', client), link);
  }
  return directory;
}

async function check(block: CodeBlock, directory: string): Promise<void> {
  const { language, mark, file, code } = block;
  if (file !== undefined) await writeFile(join(directory, file), code);
  if (mark === 'file') return;
  switch (`${language} ${mark}`) {
    case 'sh test':
      await shell(code, directory);
      return;
    case 'console test':
      for (const { command, output } of sessionSteps(code)) {
        expect(await shell(command, directory), command).toMatch(toPattern(output));
      }
      return;
    case 'js test':
      await writeFile(join(directory, 'block.mjs'), code);
      expect(await shell('node block.mjs', directory)).toContain('You said: Hello!');
      return;
    case 'yaml validate': {
      const { config, diagnostics } = await loadConfig({
        paths: ['-'],
        stdin: code,
        env: {},
        cwd: directory,
      });
      expect(formatDiagnostics(diagnostics, 'text')).toBe('');
      expect(config).toBeDefined();
      return;
    }
    default:
      throw new Error(`nobody knows how to check a block marked ${language} ${mark}`);
  }
}

/** Stdout of a command; what it exports is there for the next. */
async function shell(command: string, directory: string): Promise<string> {
  const saved = '. ./exports 2>/dev/null || true';
  const whole = `${saved}\nset -euo pipefail\n${command}\nexport -p > ./exports`;
  const { stdout } = await execa('bash', ['-c', whole], {
    cwd: directory,
    env: { PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`, HOME: directory },
    extendEnv: false,
  });
  return `${stdout}\n`;
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
