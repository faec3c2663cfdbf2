import { z } from 'zod';
import { PROTOCOL_IDS } from '../../protocols/registry.ts';
import { OPTIONAL_MEMBERS, THINKING_FORMS } from '../../protocols/capabilities/capabilities.ts';
import type { Capabilities } from '../../protocols/capabilities/capabilities.ts';
import { EFFORTS } from '../../protocols/capabilities/efforts.ts';
import { defineResource } from '../store/define-resource.ts';
import type { Reference } from '../store/define-resource.ts';
import { duration, exactly, labels, name, pricing, timeouts } from '../fields/fields.ts';

const most = (least: number) => z.int().min(least).nullable().optional();
const word = z.string().min(1).max(128).nullable();

/** Capabilities of an upstream model that a route states in place of the table. */
const capabilities = exactly({
  thinking: z
    .enum(THINKING_FORMS)
    .optional()
    .describe(
      'Form of a wish to think: adaptive, budget, effort, none, or any: as the client said it.',
    ),
  efforts: z
    .array(z.enum(EFFORTS))
    .nullable()
    .optional()
    .describe('Efforts that it takes, least first; null: all.'),
  thinking_off: z.boolean().optional().describe('Thinking can be switched off.'),
  thinking_unasked: z
    .boolean()
    .optional()
    .describe('It thinks where a request does not say whether.'),
  min_budget: z.int().positive().optional().describe('Least tokens of a thinking budget.'),
  max_budget: z
    .int()
    .positive()
    .nullable()
    .optional()
    .describe('Most tokens of a thinking budget; null: no bound.'),
  sampling: z
    .boolean()
    .optional()
    .describe('It takes temperature, top_p, top_k, penalties and log probabilities.'),
  sampling_with_thinking: z.boolean().optional().describe('It takes them while it thinks.'),
  top_p_with_thinking: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Least top_p while it thinks, where sampling is not taken then.'),
  temperature_with_top_p: z
    .boolean()
    .optional()
    .describe('It takes temperature and top_p in one request.'),
  forced_tool_with_thinking: z
    .boolean()
    .optional()
    .describe('A tool can be forced while it thinks.'),
  tools_with_reasoning: z
    .enum(PROTOCOL_IDS)
    .nullable()
    .optional()
    .describe(
      'The only protocol of its provider in which it thinks with function tools; null: any.',
    ),
  tool_id_length: z
    .int()
    .min(16)
    .nullable()
    .optional()
    .describe('Most characters of a tool call id; null: no bound.'),
  exact_tool_id_length: z
    .int()
    .min(9)
    .max(32)
    .nullable()
    .optional()
    .describe('Letters and digits of which a tool call id consists; null: any form.'),
  name_length: z
    .int()
    .min(32)
    .nullable()
    .optional()
    .describe('Most characters of the name of a tool or an answer schema; null: no bound.'),
  name_marks: z
    .string()
    .max(32)
    .nullable()
    .optional()
    .describe('Characters of such names besides a-z, A-Z and 0-9, for example _-; null: all.'),
  name_any_start: z
    .boolean()
    .optional()
    .describe('Such names may begin with any of their characters; false: a letter or _.'),
  max_tools: most(1).describe('Most tools of a request, which is refused beyond; null: no bound.'),
  max_stops: most(0).describe('Most stop sequences, the first of which are sent; null: no bound.'),
  max_seed: most(1).describe('Most of a seed, its sign aside; null: no bound.'),
  min_output_tokens: z.int().positive().optional().describe('Least output tokens to ask for.'),
  document_types: z
    .array(z.string().min(1).max(128))
    .nullable()
    .optional()
    .describe('Media types of documents that it takes as bytes; null: all.'),
  consecutive_assistant_turns: z
    .boolean()
    .optional()
    .describe('It takes turns of the assistant one behind the other; false: they are joined.'),
  consecutive_user_turns: z
    .boolean()
    .optional()
    .describe('It takes turns of the user one after the other; false: they are joined.'),
  user_after_tool: z
    .boolean()
    .optional()
    .describe('The user can follow results of tools; false: the assistant says a word between.'),
  assistant_first: z
    .boolean()
    .optional()
    .describe('It takes a conversation that begins with the assistant.'),
  assistant_last: z
    .boolean()
    .optional()
    .describe('It continues a last turn of the assistant; false: the user asks it to.'),
  system_turns: z
    .boolean()
    .optional()
    .describe('It takes several system texts, also after the user; false: one is in front.'),
  system_texts: z
    .boolean()
    .optional()
    .describe('It takes system texts; false: they begin the first turn of the user.'),
  custom_tools: z
    .boolean()
    .optional()
    .describe('It takes tools of free text; false: they are functions of one text.'),
  penalties: z.boolean().optional().describe('It takes penalties other than 0.'),
  forced_tool: z
    .boolean()
    .optional()
    .describe('A tool can be forced; false: the model is free to call it.'),
  tools_with_output: z
    .boolean()
    .optional()
    .describe('It takes function tools and a form of the answer in one request.'),
  unsigned_call: word
    .optional()
    .describe('Word for the signature that a call sent back lacks; null: none is needed.'),
  unreasoned_call: word
    .optional()
    .describe('Reasoning that a call sent back lacks; null: none is needed.'),
  budget_after_calls: z
    .boolean()
    .optional()
    .describe('It thinks within a budget also behind calls sent back without their thinking.'),
  tool_result_media: z
    .boolean()
    .optional()
    .describe('Results of tools can hold media; false: the user shows them behind it.'),
  any_schema: z
    .boolean()
    .optional()
    .describe('Answer schemas can bound values; false: bounds are words, objects are closed.'),
  blank_texts: z.boolean().optional().describe('It takes texts and stops of white space alone.'),
  max_temperature: z
    .number()
    .positive()
    .nullable()
    .optional()
    .describe('Most `temperature`; null: no bound.'),
  min_seed: z.int().nullable().optional().describe('Least `seed`; null: any.'),
  unknown_members: z
    .array(z.enum(OPTIONAL_MEMBERS))
    .optional()
    .describe('Members of requests that it refuses: they are left out, refusals become texts.'),
  user_length: z
    .int()
    .min(16)
    .nullable()
    .optional()
    .describe('Most characters of an end user; a longer one is sent as a digest. null: no bound.'),
  personal_user: z
    .boolean()
    .optional()
    .describe('An end user can be an address or a number; false: it is sent as a digest.'),
} satisfies Record<keyof Capabilities, z.ZodType>);

const route = z.object({
  provider: z.string().trim().min(1).describe('Name of the provider.'),
  upstream_model: z
    .string()
    .trim()
    .min(1)
    .max(256)
    .optional()
    .describe(
      "The provider's own name of the model; default: what follows the first / of the name.",
    ),
  protocols: z
    .array(z.enum(PROTOCOL_IDS))
    .nullable()
    .default(null)
    .describe('Wire formats; default: all it speaks.'),
  mapping: z
    .enum(['native', 'translated'])
    .default('native')
    .describe('translated lets generate-content requests be served in another protocol.'),
  priority: z.int().min(0).max(1_000_000).default(0).describe('Lower is tried first.'),
  weight: z
    .number()
    .positive()
    .max(1_000_000)
    .default(1)
    .describe('Share of traffic among equal priorities.'),
  pricing,
  timeouts,
  min_throughput: z
    .object({
      bytes_per_second: z
        .number()
        .positive()
        .describe('Least bytes per second before the first content.'),
      over: duration.describe('Span over which it is judged.'),
    })
    .nullable()
    .default(null)
    .describe('Give up the candidate when it trickles.'),
  response_model: z
    .enum(['provider', 'logical'])
    .default('provider')
    .describe("Which name answers carry in `model`: the provider's bytes, or the logical name."),
  capabilities: capabilities
    .nullable()
    .default(null)
    .describe('What its upstream model takes; default: as the table of the gateway knows it.'),
  enabled: z.boolean().default(true).describe('False takes this route out of service.'),
});

/** A logical model: the name that clients ask for, and the routes that serve it. */
export const model = defineResource('models', {
  idPrefix: 'model',
  description: 'Logical models and their routes.',
  fields: () =>
    z.object({
      name: name
        .regex(/^[^\s?#%]+$/, 'no blanks, ?, # or %')
        .regex(/^[^*]*$/, 'no *; names with * stand under aliases, or in the models of a provider')
        .describe('Logical name, such as acme/fast.'),
      type: z
        .enum(['llm', 'embedding', 'image', 'video', 'audio', 'api'])
        .default('llm')
        .describe('What it does; the catalog lists llm by default.'),
      display_name: z.string().max(256).nullable().default(null).describe('Shown to people.'),
      description: z.string().max(4096).nullable().default(null).describe('What it is good for.'),
      enabled: z.boolean().default(true).describe('False makes it unknown to clients.'),
      capabilities: z
        .array(z.string().min(1).max(64))
        .max(64)
        .default([])
        .describe('Such as tools, vision, reasoning.'),
      schema: z
        .record(z.string(), z.unknown())
        .nullable()
        .default(null)
        .describe('JSON Schema of the input.'),
      context_window: z
        .int()
        .positive()
        .nullable()
        .default(null)
        .describe('Tokens that it reads and writes at most; Sessions leave out what does not fit.'),
      max_output_tokens: z
        .int()
        .positive()
        .nullable()
        .default(null)
        .describe('Most tokens that it can produce.'),
      pricing,
      timeouts,
      strategy: z
        .enum(['priority', 'least_latency', 'sticky'])
        .default('priority')
        .describe('How routes of equal priority are ordered.'),
      fallbacks: z
        .array(z.string().min(1))
        .max(16)
        .default([])
        .describe('Models tried when every route failed.'),
      routes: z.array(route).max(64).default([]).describe('Where requests are sent.'),
      labels,
    }),
  aliases: { model_type: 'type' },
  deletable: true,
  filters: ['enabled', 'model_type'],
  flags: {
    route: {
      path: 'routes',
      value: 'PROVIDER[=MODEL]',
      description: "Provider that serves it, with the provider's own name of the model",
      repeatable: true,
      read: (text) => {
        const [provider = '', upstream] = text.split(/=(.*)/s);
        return { provider, ...(upstream !== undefined && { upstream_model: upstream }) };
      },
    },
  },
  refs: (spec): Reference[] => [
    ...(spec['routes'] as z.output<typeof route>[]).map(({ provider }, index) => ({
      kind: 'provider',
      target: provider,
      path: `routes[${index}].provider`,
    })),
    ...(spec['fallbacks'] as string[]).map((target, index) => ({
      kind: 'model',
      target,
      path: `fallbacks[${index}]`,
    })),
  ],
});
