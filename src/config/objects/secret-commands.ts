import type { ChildProcess } from 'node:child_process';
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import { printable } from '../../core/printable.ts';
import { toShellWord } from '../../core/shell-word.ts';

/** The command of `${secret:exec:COMMAND}`, with the folder that it runs in. */
export interface SecretCommand {
  readonly name: string;
  readonly directory: string;
}

/** Runs the commands of secrets. */
export interface SecretCommands {
  /**
   * What a command prints, without the last line break. Equal commands run once. Rejects with
   * {@link SecretCommandError}.
   */
  run(command: SecretCommand): Promise<string>;
}

/** No value came of a command. Names neither the value nor anything that the command printed. */
export class SecretCommandError extends Error {
  override readonly name = 'SecretCommandError';
}

export interface SecretCommandsOptions {
  /** Words that a command may begin with (`op`, `pass show`); `all` allows each command. */
  readonly allowed: readonly string[];
  /** False: the file may name commands, but not allow them. */
  readonly isOwnFile: boolean;
  /** The environment of the process, without that of any file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that a command does not get, and neither another with the value of one of them. */
  readonly isHidden: (name: string) => boolean;
  /** Takes a line for each command that runs. */
  note(line: string): void;
  /** Default 10 seconds. */
  readonly timeoutMs?: number;
}

/** Words that allow each command. */
const ALL = 'all';
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** Commands run without a shell, in the environment of the process without what the gateway keeps there. */
export function createSecretCommands(options: SecretCommandsOptions): SecretCommands {
  const outputs = new Map<string, Promise<string>>();
  const env = environmentOf(options);
  const run = async ({ name, directory }: SecretCommand): Promise<string> => {
    const { words } = splitWords(name);
    const [program = ''] = words;
    if (!isAllowed(words, options.allowed)) throw refusal(words, options);
    const { timeoutMs, note, isOwnFile } = options;
    const onStart = (): void => note(`ran ${program} for \${secret:exec:${name}}`);
    const settings = { directory, timeoutMs, onStart };
    const made = isOwnFile
      ? outputOf(words, { ...settings, env })
      : outputOf(words, { ...settings, env: withoutPrograms(env, directory), notFound: NOT_THERE });
    return toText(program, await made);
  };
  return {
    run(command) {
      const key = keyOf(command);
      const known = outputs.get(key) ?? run(command);
      outputs.set(key, known);
      return known;
    },
  };
}

/** Equal for commands that run once. */
export function keyOf({ directory, name }: SecretCommand): string {
  return JSON.stringify([directory, name]);
}

export interface CommandWords {
  readonly words: readonly string[];
  /** Sentence about quotes that do not end or words that are not there; undefined for a command. */
  readonly fault?: string;
  /** The first character outside of quotes that only a shell would understand. */
  readonly shell?: string;
}

const PART = /'([^']*)'|"((?:\\[^]|[^"\\])*)"|\\([^])|(\s+)|([^\s'"\\]+)/y;

/**
 * Splits a command into words as a POSIX shell does, with its quotes and backslashes: nothing is
 * expanded, and a character such as `|` is a plain one.
 */
export function splitWords(text: string): CommandWords {
  // They could make the line that names the command look like another one.
  if (printable(text) !== text) return { words: [], fault: 'it holds invisible characters' };
  const words: string[] = [];
  let word: string | undefined;
  let shell: string | undefined;
  const end = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const [part, single, double, escaped, space, plain] = PART.exec(text) ?? [];
    if (part === undefined) return { words, fault: 'a quote or backslash has no end' };
    if (space !== undefined) end();
    else
      word = `${word ?? ''}${single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? ''}`;
    shell ??= /[|&;<>$`]/.exec(plain ?? '')?.[0];
  }
  end();
  const isEmpty = words[0] === undefined || words[0] === '';
  return {
    words,
    ...(isEmpty && { fault: 'a program must be named' }),
    ...(shell !== undefined && { shell }),
  };
}

function isAllowed(words: readonly string[], allowed: readonly string[]): boolean {
  return allowed.some((one) => {
    const begin = splitWords(one).words;
    return one === ALL || (begin.length > 0 && begin.every((word, at) => word === words[at]));
  });
}

function refusal(
  words: readonly string[],
  { isOwnFile }: Pick<SecretCommandsOptions, 'isOwnFile'>,
): SecretCommandError {
  // With its subcommands, or the script of an interpreter, and without their arguments.
  const end = words.findIndex((word, at) => at > 0 && !/^[a-z][a-z-]*$/.test(word));
  const isScript = end === 1 && words[1]?.startsWith('-') === false;
  const text = words
    .slice(0, isScript ? 2 : end < 0 ? words.length : end)
    .map(toShellWord)
    .join(' ');
  const flag = `--allow-exec ${toShellWord(text)} (or set GATEWAY_ALLOW_EXEC)`;
  return new SecretCommandError(
    isOwnFile
      ? `this command may not run: add ${JSON.stringify(text)} to server.secrets.exec and start again, or add ${flag}`
      : `this command may not run: add ${flag}; server.secrets.exec counts only for a gateway that starts with the file, since the author of a proposal could change it`,
  );
}

/** Shorter values are no keys: another variable may have the same by chance. */
const MIN_KEY_LENGTH = 8;

function environmentOf({
  env,
  isHidden,
}: Pick<SecretCommandsOptions, 'env' | 'isHidden'>): Record<string, string> {
  const set = Object.entries(env).filter((one): one is [string, string] => one[1] !== undefined);
  const keys = set.filter(([name, { length }]) => isHidden(name) && length >= MIN_KEY_LENGTH);
  const values = new Set(keys.map(([, value]) => value));
  return Object.fromEntries(set.filter(([name, value]) => !isHidden(name) && !values.has(value)));
}

const NOT_THERE =
  'is no program of this machine; folders of PATH in that of the file, and node_modules/.bin, do not count, since the author of a proposal could fill them';

/**
 * Leaves out of `PATH` where the author of a proposal can lay a program of an allowed name: folders below that
 * of the file, relative ones, and those that npm puts before all others for a project.
 */
function withoutPrograms(
  { PATH = '', ...env }: Record<string, string>,
  directory: string,
): Record<string, string> {
  const isBelow = (folder: string): boolean =>
    dirname(directory) !== directory && !/^\.\.(\/|$)/.test(relative(directory, folder));
  const kept = PATH.split(delimiter).filter(
    (one) =>
      isAbsolute(one) && !isBelow(one) && !join(one, '/').endsWith(join('/node_modules/.bin/')),
  );
  return kept.length === 0 ? env : { ...env, PATH: kept.join(delimiter) };
}

interface RunSettings {
  readonly env: Record<string, string>;
  readonly directory: string;
  readonly timeoutMs: number | undefined;
  /** End of the sentence about a program that is not there. */
  readonly notFound?: string;
  onStart(): void;
}

async function outputOf(words: readonly string[], settings: RunSettings): Promise<Buffer> {
  const { spawn } = await import('node:child_process');
  const { env, directory } = settings;
  const [program = '', ...args] = words;
  try {
    const child = spawn(program, args, {
      cwd: directory,
      env,
      // Its stderr may hold the value.
      stdio: ['ignore', 'pipe', 'ignore'],
      // Leader of a group, so that its own children end with it.
      detached: true,
      windowsHide: true,
    });
    return await readOutput(child, program, settings);
  } catch (thrown) {
    if (thrown instanceof SecretCommandError) throw thrown;
    // As for arguments that are longer than the system takes.
    const { code } = thrown as NodeJS.ErrnoException;
    throw new SecretCommandError(`${program} cannot be started (${code})`);
  }
}

/** Ends the command with all that it started when it takes too long or prints too much. */
function readOutput(
  child: ChildProcess,
  program: string,
  { timeoutMs = TIMEOUT_MS, notFound = 'is no program of this machine', onStart }: RunSettings,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // Absent where the process can open no further files.
    const { stdout } = child;
    const end = (): void => endGroup(child.pid);
    // What ends this process does not end a group of its own.
    process.once('exit', end);
    const settle = (): void => {
      clearTimeout(timer);
      process.off('exit', end);
    };
    const fail = (why: string): void => {
      settle();
      stdout?.destroy();
      end();
      reject(new SecretCommandError(`${program} ${why}`));
    };
    const timer = setTimeout(
      () => fail(`gave no value within ${timeoutMs / 1000} s and was ended`),
      timeoutMs,
    );
    child.on('spawn', onStart);
    child.on('error', ({ code }: NodeJS.ErrnoException) =>
      fail(code === 'ENOENT' ? notFound : `cannot be started (${code})`),
    );
    stdout?.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) fail(`printed more than ${MAX_BYTES} bytes`);
    });
    child.on('close', (code, signal) => {
      const how = code === null ? `by ${signal}` : `with exit code ${code}`;
      if (code !== 0)
        return fail(
          `ended ${how}; its words are not shown, since they may hold the value: run it by hand`,
        );
      settle();
      resolve(Buffer.concat(chunks));
    });
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function toText(program: string, bytes: Buffer): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw new SecretCommandError(`${program} printed what is no text in UTF-8`);
  }
  if (text === '') throw new SecretCommandError(`${program} printed nothing`);
  return text;
}
