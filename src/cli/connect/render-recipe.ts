import { stringify } from 'yaml';
import { toShellWord } from '../../core/shell-word.ts';
import type { Style } from '../output/style.ts';
import { mergeContent } from './merge-content.ts';
import type { Tool, ToolFile, ToolRecipe } from './tool.ts';

/** Lines to paste for a tool, and the commands that do the same. */
export function renderRecipe(tool: Tool, recipe: ToolRecipe, style: Style): string {
  const { env, files = [], steps = [] } = recipe;
  const parts = [
    env && [style.bold('In a shell:'), ...exports(env), startLine(tool, recipe)],
    ...files.map((file, index) => [
      style.bold(`${index > 0 ? 'And in' : env ? 'Or for good, in' : 'In'} ${shownPath(file)}:`),
      indented(contentOf(file)),
    ]),
    steps.length > 0 && [style.bold('By hand:'), ...steps.map((step) => `  ${step}`)],
    shortcuts(tool, recipe),
  ];
  return parts
    .flatMap((lines) => (lines ? [lines.filter((line) => line !== undefined).join('\n')] : []))
    .join('\n\n');
}

/** The content of a new file. */
export function contentOf(file: ToolFile): string {
  const { content, defaults } = file;
  if (typeof content !== 'string' && file.format === 'yaml')
    return stringify({ ...defaults, ...content }, { lineWidth: 0 }).trimEnd();
  return mergeContent(file, undefined).trimEnd();
}

export function shownPath({ path, isHere }: ToolFile): string {
  return isHere ? path : `~/${path}`;
}

function exports(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `  export ${name}=${quoted(value)}`);
}

/** A command that makes a key stays one that the shell runs. */
function quoted(value: string): string {
  return value.startsWith('$(') ? `"${value}"` : toShellWord(value);
}

function startLine({ program }: Tool, { args = [] }: ToolRecipe): string | undefined {
  return program && `  ${[program, ...args.map((word) => quoted(word))].join(' ')}`;
}

function shortcuts(tool: Tool, { files }: ToolRecipe): string[] {
  return [
    tool.program ? `gateway connect ${tool.name} --run      starts it so, and changes no file` : [],
    files
      ? `gateway connect ${tool.name} --write    writes this there and keeps a backup; --undo takes it back`
      : [],
  ].flat();
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
