const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const WIDTH = 120;

/** A value with its name, as they are spelled. */
interface Spelled {
  /** All of it on one line. */
  line: string;
  /** Name and bracket in front of the members. */
  open: string;
  members: readonly Spelled[];
}

/** The same JSON on lines that a person can read; numbers and texts keep their spelling. */
export function layOut(json: string): string {
  const tokens = (json.match(TOKEN) ?? []).values();
  const next = (): string => tokens.next().value ?? '';
  const read = (first: string, name = ''): Spelled => {
    const open = name + first;
    if (first !== '{' && first !== '[') return { line: open, open, members: [] };
    const [close, space] = first === '{' ? ['}', ' '] : [']', ''];
    const members: Spelled[] = [];
    for (let token = next(); token !== close; token = next()) {
      if (token === ',') token = next();
      if (first === '[') members.push(read(token));
      else if (next() === ':') members.push(read(next(), `${token}: `));
    }
    const inner = members.map(({ line }) => line).join(', ');
    const pad = inner === '' ? '' : space;
    return { line: `${open}${pad}${inner}${pad}${close}`, open, members };
  };
  return `${print(read(next()), '')}\n`;
}

function print({ line, open, members }: Spelled, indent: string): string {
  if (members.length === 0 || indent.length + line.length < WIDTH) return line;
  const inner = `${indent}  `;
  const lines = members.map((member) => inner + print(member, inner));
  return `${open}\n${lines.join(',\n')}\n${indent}${line.slice(-1)}`;
}
