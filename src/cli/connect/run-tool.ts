import { execa, ExecaError } from 'execa';
import { constants } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { needConfigHome } from '../connection/config-home.ts';
import { writePrivateFile } from '../connection/private-file.ts';
import { EXIT } from '../exit-codes.ts';
import type { CliIo } from '../io.ts';
import type { Tool, ToolRecipe } from './tool.ts';

/**
 * Runs the tool in this terminal with what makes it use the gateway, and resolves with its exit code.
 * Ctrl-C is the tool's. Throws `program_missing` (exit 1) when it is not installed.
 */
export async function runTool(
  tool: Tool,
  recipe: ToolRecipe,
  { io, words }: { io: CliIo; words: readonly string[] },
): Promise<number> {
  const env = { ...io.env, ...recipe.env, ...(await writeSettings(tool, recipe, io)) };
  const { program = tool.name } = tool;
  const ignore = (): void => undefined;
  io.signals.on('SIGINT', ignore);
  try {
    const { exitCode, signal } = await execa(program, [...(recipe.args ?? []), ...words], {
      cwd: io.cwd,
      env,
      extendEnv: false,
      stdio: 'inherit',
      reject: false,
    }).then(refuseMissing(tool));
    return exitCode ?? (signal === undefined ? EXIT.failed.code : 128 + constants.signals[signal]);
  } finally {
    io.signals.off('SIGINT', ignore);
  }
}

async function writeSettings(
  { name }: Tool,
  { settings }: ToolRecipe,
  { env }: CliIo,
): Promise<Record<string, string>> {
  if (settings === undefined) return {};
  const path = join(needConfigHome(env), 'connect', `${name}-settings.json`);
  await writePrivateFile(path, `${JSON.stringify(settings.content, null, 2)}\n`);
  return { [settings.variable]: path };
}

function refuseMissing({ title, program, install }: Tool) {
  return <Result>(result: Result): Result => {
    const isMissing = result instanceof ExecaError && result.code === 'ENOENT';
    if (!isMissing) return result;
    throw new CliError({
      code: 'program_missing',
      message: `${title} is not installed: no ${program} on the PATH`,
      hint: install,
    });
  };
}
