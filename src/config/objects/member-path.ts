/** `routes[0].weight`, `labels["team/a"]`; undefined for other text. */
export function readMemberPath(text: string): (string | number)[] | undefined {
  const parts: (string | number)[] = [];
  const step = /\.?([A-Za-z_][\w-]*)|\[(\d+)\]|\["((?:[^"\\]|\\.)+)"\]/gy;
  while (step.lastIndex < text.length) {
    const isFirst = step.lastIndex === 0;
    const found = step.exec(text);
    if (found === null || (isFirst && (found[1] === undefined || text.startsWith('.'))))
      return undefined;
    const [, name, index, quoted] = found;
    if (quoted !== undefined) parts.push(JSON.parse(`"${quoted}"`) as string);
    else parts.push(name ?? Number(index));
  }
  return parts.length === 0 ? undefined : parts;
}
