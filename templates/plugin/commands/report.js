import { CliError, defineCommand } from 'agent-gateway/plugin';

/** `gateway report`: flags and arguments reach `run` under the names that they have here. */
export const report = defineCommand({
  name: 'report',
  summary: 'Say which models can be asked',
  examples: [{ command: 'gateway report mock/ --limit 5', note: 'The first five' }],
  args: [{ name: 'prefix', description: 'Only models that begin so' }],
  flags: [
    {
      name: 'limit',
      short: 'n',
      type: 'integer',
      default: 10,
      min: 1,
      description: 'How many at most',
    },
  ],
  output: {
    type: 'object',
    required: ['models', 'total'],
    properties: {
      models: { type: 'array', items: { type: 'string' } },
      total: { type: 'integer' },
    },
  },
  /** `data` is what -o json shows, `text` what people see. */
  async run({ args: { prefix = '' }, flags, context }) {
    const client = await context.connect();
    const all = await client.models.list({ type: '' }, context.signal);
    const found = all.map(({ id }) => id).filter((id) => id.startsWith(prefix));
    if (found.length === 0) {
      throw new CliError({ code: 'no_model', message: `no model begins with "${prefix}"` });
    }
    const models = found.slice(0, flags.limit);
    return { data: { models, total: found.length }, text: models.join('\n') };
  },
});
