import type { PlanLine } from '../../client/models.ts';
import type { CommandRun } from '../command.ts';
import { renderTable } from '../table.ts';
import type { Column } from '../table.ts';

export const run: CommandRun = async ({ args, flags, context }) => {
  const client = await context.connect();
  const plan = await client.models.explain(
    { model: args['name'] ?? '', protocol: flags.text('protocol') },
    context.signal,
  );
  return {
    data: plan,
    text: async (style) => {
      const { candidates, left_out: leftOut, protocol, model } = plan;
      const head = `${model} asked in ${protocol}:`;
      const empty = 'no route can serve it';
      const tried = await renderTable(numbered(candidates), COLUMNS, { style, empty });
      if (leftOut.length === 0) return `${head}\n\n${tried}`;
      const rest = await renderTable(numbered(leftOut), LEFT_OUT, { style, empty: '' });
      return `${head}\n\n${tried}\n\nleft out:\n\n${rest}`;
    },
  };
};

interface Numbered extends PlanLine {
  at: number;
}

function numbered(lines: readonly PlanLine[]): Numbered[] {
  return lines.map((line, index) => ({ ...line, at: index + 1 }));
}

const PROVIDER: Column<Numbered> = { title: 'PROVIDER', value: ({ provider }) => provider };
const UPSTREAM: Column<Numbered> = {
  title: 'UPSTREAM MODEL',
  value: (line) => line.upstream_model,
};
const WHY: Column<Numbered> = { title: 'WHY', value: ({ why }) => why };

const COLUMNS: readonly Column<Numbered>[] = [
  { title: '#', value: ({ at }) => at },
  PROVIDER,
  UPSTREAM,
  { title: 'IN', value: ({ protocol }) => protocol },
  { title: 'HEALTH', value: ({ health }) => health.state },
  { title: 'MS', value: ({ health }) => health.latency_ms },
  WHY,
];

const LEFT_OUT: readonly Column<Numbered>[] = [PROVIDER, UPSTREAM, WHY];
