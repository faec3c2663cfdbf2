import { execa } from 'execa';
import { BINARY } from './gateway.ts';
import type { TestGateway } from './gateway.ts';

export interface BinaryRun {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Document on stdout; throws when there is not exactly one. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into data of every shape
  json(): any;
}

export interface BinaryOptions {
  cwd: string;
  env?: Readonly<Record<string, string>>;
  stdin?: string;
}

/** Runs one command line as a process of its own. */
export async function runBinary(
  argv: readonly string[],
  { cwd, env = {}, stdin = '' }: BinaryOptions,
): Promise<BinaryRun> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [BINARY, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    extendEnv: false,
    reject: false,
    input: stdin,
  });
  return { code: exitCode, stdout, stderr, json: () => JSON.parse(stdout) };
}

/** Variables that lead a command line to a gateway with its admin key. */
export function adminEnv({ url, adminKey }: TestGateway): Record<string, string> {
  return { GATEWAY_SERVER: url, GATEWAY_API_KEY: adminKey };
}
