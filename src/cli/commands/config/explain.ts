import { explain, type Explanation, UnknownKeyError } from '../../../config/schema/explain.ts';
import { usageError } from '../../cli-error.ts';
import type { Style } from '../../output/style.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'explain'> = async ({ args }) => {
  try {
    const found = explain(args.path);
    return { data: found, text: (style) => render(found, style) };
  } catch (thrown) {
    if (thrown instanceof UnknownKeyError) throw usageError(thrown.message, thrown.hint);
    throw thrown;
  }
};

function render(found: Explanation, style: Style): string {
  const standard = 'default' in found ? JSON.stringify(found.default) : 'none';
  const lines = [
    style.bold(found.path),
    ...(found.description === null ? [] : [`  ${found.description}`]),
    `  type:     ${found.type}`,
    `  default:  ${standard}${found.required ? ' (required)' : ''}`,
    ...(found.update === null ? [] : [`  update:   ${found.update}`]),
  ];
  const width = Math.max(0, ...found.members.map(({ name }) => name.length));
  const members = found.members.map(({ name, description }) =>
    `  ${name.padEnd(width)}  ${style.dim(description ?? '')}`.trimEnd(),
  );
  return [...lines, ...(members.length > 0 ? ['', ...members] : [])].join('\n');
}
