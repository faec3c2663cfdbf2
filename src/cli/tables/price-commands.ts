/** Commands on the list of published prices; they need a key with the scope admin. */
export const PRICE_COMMANDS = [
  {
    name: 'prices',
    summary: 'Show and replace the published prices of vendors',
    examples: [{ command: 'gateway prices show', note: 'Which list is in use' }],
  },
  {
    name: 'prices show',
    summary: 'Show which list of published prices is in use',
    description:
      'The list that comes with the gateway, by its version; or the one that was kept by `gateway prices update`, by its checksum, with when it was kept and from where.',
    examples: [{ command: 'gateway prices show', note: 'Shipped or kept' }],
    load: () => import('../commands/prices/prices-show.ts'),
  },
  {
    name: 'prices update',
    summary: 'Use another list of published prices',
    description:
      'Reads a list in the JSON format of genai-prices from a file or URL, refuses it unless its SHA-256 is the one that is given, and keeps it in the store, where every process of the gateway takes it up. The gateway itself fetches nothing, and `pricing` in the configuration always wins. Without --sha256 it tells the sum of a file and changes nothing.',
    examples: [
      {
        command: 'gateway prices update prices.json --sha256 6b86b273ff34...',
        note: 'A file whose sum you know',
      },
      {
        command: 'gateway prices update https://prices.example/data.json --sha256 6b86b273ff34...',
        note: 'Read here, on this machine',
      },
    ],
    args: [{ name: 'source', required: true, description: 'A file, or an http or https URL' }],
    flags: [
      {
        name: 'sha256',
        type: 'string',
        value: 'HEX',
        description: 'SHA-256 that the list must have, in hexadecimal',
      },
    ],
    load: () => import('../commands/prices/prices-update.ts'),
  },
  {
    name: 'prices reset',
    summary: 'Go back to the prices that come with the gateway',
    examples: [{ command: 'gateway prices reset', note: 'Forget the kept list' }],
    load: () => import('../commands/prices/prices-reset.ts'),
  },
] as const;
