import type { CatalogItem, ServedWay } from '../../../client/models.ts';
import { getResource } from '../../resources/get-resource.ts';
import { renderFields, renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'models get'> = async (input) => {
  const name = input.args.name;
  const sought = { kind: 'models', named: name, toRows: withDate } as const;
  const found = await getResource(input, sought, (client, signal) =>
    client.models.get(name, signal),
  );
  const model = found.data as CatalogItem | null;
  if (!model?.protocols) return found;
  const { protocols, ...fields } = model;
  const ways = Object.entries(protocols).flatMap(([client, served = []]) =>
    served.map((way) => ({ client, ...way })),
  );
  return {
    data: model,
    text: async (style) => {
      const table = await renderTable(ways, COLUMNS, { style, empty: 'no route serves it' });
      return `${renderFields(withDate(fields), style)}\n\n${table}`;
    },
  };
};

/** The protocol that lists models has epoch seconds, which are hard to read. */
function withDate(model: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { created } = model;
  if (typeof created !== 'number') return model;
  return { ...model, created: new Date(created * 1000).toISOString() };
}

function spokenIn({ provider_protocol: spoken, tools_with_reasoning: isForTools }: Way): string {
  return isForTools ? `${spoken}, with tools and reasoning` : spoken;
}

type Way = ServedWay & { client: string };

const COLUMNS: readonly Column<Way>[] = [
  { title: 'CLIENT SPEAKS', value: ({ client }) => client },
  { title: 'PROVIDER SPEAKS', value: spokenIn },
  { title: 'LOST', value: ({ loses }) => loses.join(', '), isCut: true },
];
