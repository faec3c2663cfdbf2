import type { Pricing, ServiceTier } from '../usage.ts';

/** Lines of vendors' price pages that the list has no member for. */
export type ServicePrices = Pick<Pricing, 'serviceTiers' | 'tools'>;

interface ServiceRow {
  /** Upstream names, in lower case. */
  readonly models: RegExp;
  readonly tiers?: Readonly<Record<string, ServiceTier>>;
  readonly tools?: Pricing['tools'];
}

const NANOS_PER_DOLLAR = 1e9;
/** Ending of a name with a date. */
const DATED = '(?:-\\d{4}-\\d{2}-\\d{2})?$';

const priority = (models: string, times: number): ServiceRow => {
  return { models: new RegExp(`^(?:${models})${DATED}`), tiers: { priority: { times } } };
};

/** By the vendor's name in lists; of several rows for a model all hold. A way without a row is unpriced. */
const ROWS: Readonly<Record<string, readonly ServiceRow[]>> = {
  // https://developers.openai.com/api/docs/pricing and https://openai.com/api-priority-processing/
  openai: [
    {
      models: /^(?:gpt-5(?:\.[1-6])?(?!\.?\d)(?!.*(?:audio|codex|image|chat))|o3(?!-mini)|o4-mini)/,
      tiers: { flex: { times: 0.5 } },
    },
    { models: /./, tiers: { batch: { times: 0.5 } }, tools: { code_execution: 0.03 } },
    priority('gpt-5\\.5', 2.5),
    priority('gpt-5(?:\\.1|\\.2|\\.4|\\.4-mini|-codex|\\.1-codex)?|gpt-4\\.1-nano', 2),
    priority('gpt-5-mini', 1.8),
    priority('gpt-4\\.1|gpt-4\\.1-mini|o3', 1.75),
    { models: /^gpt-4o-2024-05-13$/, tiers: { priority: { times: 1.75 } } },
    { models: /^gpt-4o(?:-2024-(?:08-06|11-20))?$/, tiers: { priority: { times: 1.7 } } },
    priority('gpt-4o-mini', 5 / 3),
    priority('o4-mini', 20 / 11),
  ],
  // https://platform.claude.com/docs/en/about-claude/pricing and …/build-with-claude/fast-mode
  anthropic: [
    { models: /./, tiers: { batch: { times: 0.5 } } },
    { models: /^claude-opus-4-[67]/, tiers: { fast: { times: 6 } } },
    { models: /^claude-opus-(?:4-8|5(?!-\d{1,2}(?!\d)))/, tiers: { fast: { times: 2 } } },
    {
      models: /^claude-(?:(?:opus|sonnet)-(?:4-[6-9]|[5-9])|haiku-[5-9]|fable|mythos)/,
      tiers: { us: { times: 1.1 } },
    },
  ],
  // https://ai.google.dev/gemini-api/docs/pricing
  google: [
    { models: /^gemini-(?:2\.5|3)/, tiers: { flex: { times: 0.5 }, batch: { times: 0.5 } } },
    {
      models: /^gemini-(?:2\.5-(?:pro|flash|flash-lite)|3-flash-preview|3(?:\.1)?-pro-preview)$/,
      tiers: { priority: { times: 1.8 } },
    },
    { models: /^gemini-(?:1\.5|2)/, tools: { grounded_answer: 0.035, maps_search: 0.025 } },
    { models: /^gemini-3/, tools: { web_search: 0.014 } },
  ],
  // https://console.groq.com/docs/flex-processing: at the price of on-demand
  groq: [{ models: /./, tiers: { flex: { times: 1 } } }],
  // https://docs.x.ai/developers/models#tools-pricing
  'x-ai': [{ models: /./, tools: { web_search: 0.005, code_execution: 0.005 } }],
};

/** Prices of a vendor's model by how it is served and by the uses of tools. */
export function servicePrices(vendor: string, upstreamModel: string): ServicePrices {
  const name = upstreamModel.trim().toLowerCase();
  const rows = (ROWS[vendor] ?? []).filter(({ models }) => models.test(name));
  const serviceTiers = Object.assign({}, ...rows.map(({ tiers }) => tiers)) as object;
  const tools = Object.entries(Object.assign({}, ...rows.map((row) => row.tools)) as object);
  return {
    ...(Object.keys(serviceTiers).length > 0 && { serviceTiers: { ...serviceTiers } }),
    ...(tools.length > 0 && {
      tools: Object.fromEntries(
        tools.map(([tool, dollars]) => [tool, Math.round(Number(dollars) * NANOS_PER_DOLLAR)]),
      ),
    }),
  };
}
