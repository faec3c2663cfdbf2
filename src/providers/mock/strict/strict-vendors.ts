import type { Protocol } from '../../../protocols/registry.ts';
import { ANTHROPIC_MESSAGES, PYDANTIC_WORDS } from './anthropic.ts';
import {
  DEEPSEEK_CHAT,
  GROQ_CHAT,
  MISTRAL_CHAT,
  MOONSHOT_CHAT,
  TEMPLATE_CHAT,
} from './chat-servers.ts';
import { GOOGLE_GENERATE_CONTENT, GOOGLE_WORDS } from './google.ts';
import { OPENAI_CHAT, OPENAI_RESPONSES, OPENAI_WORDS } from './openai.ts';
import { outOfBounds } from './rule.ts';
import type { BoundWords, JsonObject, StrictProtocol } from './rule.ts';

/** Rules of each vendor, and the words of its bounds. */
export const STRICT = {
  openai: { protocols: [OPENAI_CHAT, OPENAI_RESPONSES], words: OPENAI_WORDS },
  anthropic: { protocols: [ANTHROPIC_MESSAGES], words: PYDANTIC_WORDS },
  google: { protocols: [GOOGLE_GENERATE_CONTENT], words: GOOGLE_WORDS },
  mistral: { protocols: [MISTRAL_CHAT], words: PYDANTIC_WORDS },
  groq: { protocols: [GROQ_CHAT], words: OPENAI_WORDS },
  deepseek: { protocols: [DEEPSEEK_CHAT], words: OPENAI_WORDS },
  moonshot: { protocols: [MOONSHOT_CHAT], words: OPENAI_WORDS },
  llamacpp: { protocols: [TEMPLATE_CHAT], words: OPENAI_WORDS },
} as const satisfies Record<string, { protocols: readonly StrictProtocol[]; words: BoundWords }>;

export type StrictVendor = keyof typeof STRICT;

export const STRICT_VENDORS = Object.keys(STRICT) as StrictVendor[];

/** Member of the vendor's answers that holds reasoning, where it is not the usual one. */
export function reasoningMemberOf(vendor: StrictVendor, protocol: Protocol): string | undefined {
  const all: readonly StrictProtocol[] = STRICT[vendor].protocols;
  return all.find((one) => one.protocol === protocol)?.reasoning;
}

/** The vendor's refusal of a request; undefined for a valid one, and in protocols of other vendors. */
export function refusalBy(
  vendor: StrictVendor,
  { protocol, body, model }: { protocol: Protocol; body: JsonObject; model: string },
): string | undefined {
  const { protocols, words } = STRICT[vendor];
  const found = protocols.find((one) => one.protocol === protocol);
  if (!found) return undefined;
  const bound = outOfBounds(body, found.bounds, words);
  if (bound !== undefined) return bound;
  for (const { models, refusal } of found.rules) {
    const words = !models || models.test(model) ? refusal(body, model) : undefined;
    if (words !== undefined) return words;
  }
  return undefined;
}
