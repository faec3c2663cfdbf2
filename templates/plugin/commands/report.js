import { Args, Flags, GatewayCommand } from 'agent-gateway/plugin';

/** `gateway report`: the file's place below `commands` is the name of the command. */
export class Report extends GatewayCommand {
  static summary = 'Say which models can be asked';
  static examples = [{ command: 'gateway report mock/ --limit 5', description: 'The first five' }];
  static args = { prefix: Args.string({ description: 'Only models that begin so' }) };
  static flags = {
    limit: Flags.integer({ char: 'n', default: 10, min: 1, description: 'How many at most' }),
  };

  /** What it gives is `data` with `-o json`; what it logs is what people see. */
  async run() {
    const { args, flags } = await this.parse(Report);
    const client = await this.client();
    const all = await client.models.list({ type: '' }, this.gateway.signal);
    const found = all.map(({ id }) => id).filter((id) => id.startsWith(args.prefix ?? ''));
    if (found.length === 0) {
      this.fail({ code: 'no_model', message: `no model begins with "${args.prefix}"` });
    }
    const models = found.slice(0, flags.limit);
    for (const id of models) this.log(id);
    return { models, total: found.length };
  }
}
