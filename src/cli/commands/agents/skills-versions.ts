import { collect } from '../../../client/http/pages.ts';
import { findResource } from '../../resources/find-resource.ts';
import { renderTable } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'skills versions'> = async ({ args, context }) => {
  const client = await context.connect();
  const admin = client.admin('skills');
  const { id } = await findResource(client, { kind: 'skills', named: args.id }, context.signal);
  const versions = await collect(admin.below(id).list('versions', context.signal));
  return {
    data: versions,
    text: (style) =>
      context.output.quiet
        ? versions.map((version) => version.id).join('\n')
        : renderTable(
            versions,
            [
              { title: 'VERSION', value: (version) => version.id, weight: 2 },
              { title: 'NAME', value: ({ name }) => name },
              { title: 'DESCRIPTION', value: ({ description }) => description, isCut: true },
              { title: 'CREATED', value: ({ created_at: at }) => at },
            ],
            { style, empty: 'no versions' },
          ),
  };
};
