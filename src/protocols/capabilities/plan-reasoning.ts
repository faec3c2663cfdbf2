import { GatewayError } from '../../core/errors.ts';
import { collectSteps } from '../../core/turns/in-turns.ts';
import type { Steps } from '../../core/turns/in-turns.ts';
import type { CanonicalRequest, Part, ReasoningRequest, Turn } from '../canonical/canonical.ts';
import { isSignedBy } from '../canonical/reasoning-token.ts';
import type { Feature } from '../features.ts';
import type { Protocol } from '../registry.ts';
import type { Capabilities } from './capabilities.ts';
import { budgetOfEffort, effortOfBudget, isEffort, nearestEffort } from './efforts.ts';
import type { Effort } from './efforts.ts';
import { isForced } from './fit-settings.ts';
import { protocolForTools } from './tools-protocol.ts';

/**
 * Form in which a model is asked for reasoning: as the client wished, as far as the model takes it.
 */
export interface ReasoningPlan {
  /** `unsaid`: the request says nothing about it. */
  readonly state: 'unsaid' | 'off' | 'on';
  readonly effort?: Effort | undefined;
  /** Tokens, within the bounds of the model and of the answer. */
  readonly budget?: number | undefined;
  /** Texts of the reasoning are wanted in the answer. */
  readonly show?: boolean | undefined;
  /** The model does something else than the client asked for. */
  readonly lost: boolean;
}

/** Client's wish for the amount of a model's reasoning. */
interface Wish {
  readonly effort: Effort | undefined;
  readonly budget: number | undefined;
  /** True where it shall reason, as much as it likes. */
  readonly isOpen: boolean;
}

/** Effort of a request for reasoning without an amount, where the model needs one. */
const USUAL: Effort = 'medium';
/** Word of some vendors for as much as the model likes. */
const DEFAULT = 'default';
/** Part of the output tokens that reasoning may take at most: an answer must follow it. */
const MOST_OF_OUTPUT = 3 / 4;

/**
 * Reasoning gives way to a forced tool, to an answer where there is no room for both, and to calls
 * that were sent back without the reasoning that led to them.
 *
 * @param protocol of the provider, which knows its own signatures
 * @throws GatewayError `unsupported_feature` for function tools where they are not taken at any effort
 */
export function planReasoning(
  request: CanonicalRequest,
  takes: Capabilities,
  protocol: Protocol,
): ReasoningPlan {
  const { reasoning, turns, maxOutputTokens } = request;
  if (refusesTools(request, takes, protocol)) return { ...without(takes), show: reasoning?.show };
  if (!reasoning) return { state: 'unsaid', lost: false };
  if (takes.thinking === 'none') return { state: 'unsaid', lost: isWanted(reasoning) };
  const { show } = reasoning;
  if (isOff(reasoning)) {
    const off = planOff(takes);
    return { ...off, show, lost: off.lost || saysHowMuch(reasoning) };
  }
  if (!isOn(reasoning)) return { state: 'unsaid', show, lost: false };
  if (isForced(request) && !takes.forced_tool_with_thinking) return { ...without(takes), show };
  const plan = { ...planOn(reasoning, takes), show };
  if (plan.budget === undefined) return plan;
  if (!takes.budget_after_calls && isWithinUnreasoned(turns, protocol))
    return { ...without(takes), show };
  const budget = budgetWithin(plan.budget, maxOutputTokens, takes);
  return budget === undefined ? { ...without(takes), show } : { ...plan, budget };
}

/** True where the model reasons over the answer, asked or unasked. */
export function isReasoning({ state }: ReasoningPlan, takes: Capabilities): boolean {
  return state === 'on' || !takes.thinking_off || (state === 'unsaid' && takes.thinking_unasked);
}

/** True for function tools and reasoning, asked or unasked, that are not taken together. */
function refusesTools(
  { reasoning = {}, tools }: CanonicalRequest,
  takes: Capabilities,
  protocol: Protocol,
): boolean {
  if (!tools.some((tool) => tool.type === 'function' && !tool.custom)) return false;
  const effort = isOn(reasoning) ? (reasoning.effort ?? USUAL) : undefined;
  const only = protocolForTools(
    isOff(reasoning) ? { effort: 'none' } : { effort },
    takes,
    protocol,
  );
  if (only === undefined || takes.thinking_off) return only !== undefined;
  const message = `the model takes function tools in ${only} alone; add it to \`protocols\` of the route`;
  throw new GatewayError('unsupported_feature', { message, param: 'tools' });
}

/**
 * True where a loop of calls continues that began without reasoning of the provider's own. Its
 * later steps need none: the whole loop is one turn of the model.
 */
function isWithinUnreasoned(turns: readonly Turn[], protocol: Protocol): boolean {
  const loop = turns.slice(loopStart(turns));
  if (!loop.some(({ role }) => role === 'tool')) return false;
  const parts = loop.find(({ role }) => role === 'assistant')?.parts ?? [];
  return parts.find((part) => !isForeignReasoning(part, protocol))?.type !== 'reasoning';
}

/** Index of the turn that begins the last loop of calls; texts with results do not end it. */
export function loopStart(turns: readonly Turn[]): number {
  const isAsking = ({ role }: Turn, at: number): boolean =>
    role === 'user' && turns[at - 1]?.role !== 'tool';
  return turns.findLastIndex(isAsking) + 1;
}

/** Turns without the reasoning of the last loop of calls, which continues without any. */
export function* withoutReasoning(
  turns: readonly Turn[],
  losses: Set<Feature>,
): Steps<readonly Turn[]> {
  const start = loopStart(turns);
  return yield* collectSteps(turns, (turn, at) => {
    const parts = at < start ? turn.parts : turn.parts.filter(({ type }) => type !== 'reasoning');
    if (parts.length === turn.parts.length) return [turn];
    losses.add('reasoning_signatures');
    return [{ ...turn, parts }];
  });
}

function isForeignReasoning(part: Part, protocol: Protocol): boolean {
  return part.type === 'reasoning' && !isSignedBy(part.signature, protocol);
}

function isOff({ effort, budgetTokens, enabled }: ReasoningRequest): boolean {
  return enabled === false || effort === 'none' || budgetTokens === 0;
}

/** True where anything of it is asked for. */
function isWanted(asked: ReasoningRequest): boolean {
  return isOn(asked) || asked.show === true || saysHowMuch(asked);
}

/** True where an amount is asked for, whatever else is. */
function saysHowMuch({ effort = 'none', budgetTokens = 0 }: ReasoningRequest): boolean {
  return effort !== 'none' || budgetTokens > 0;
}

/** `show: false` does not ask for reasoning. */
function isOn(asked: ReasoningRequest): boolean {
  const { effort, budgetTokens, enabled, show } = asked;
  if (isOff(asked)) return false;
  return effort !== undefined || budgetTokens !== undefined || enabled === true || show === true;
}

/** Off, or the least reasoning of a model that always reasons. */
function planOff(takes: Capabilities): ReasoningPlan {
  if (takes.thinking_off) return { state: 'off', lost: false };
  const budget = takes.thinking === 'budget' ? takes.min_budget : undefined;
  return { state: 'on', effort: efforts(takes)[0], budget, lost: true };
}

/** Plan for a wish that gives way to another one. */
function without(takes: Capabilities): ReasoningPlan {
  return { ...planOff(takes), lost: true };
}

function planOn(asked: ReasoningRequest, takes: Capabilities): ReasoningPlan {
  const word = asked.effort === DEFAULT ? undefined : asked.effort;
  const isOdd = word !== undefined && !isEffort(word);
  const wish: Wish = {
    effort: isOdd ? undefined : word,
    budget: asked.budgetTokens,
    isOpen: asked.enabled === true || asked.effort === DEFAULT,
  };
  const { effort, budget } = IN_FORM[takes.thinking](wish, takes);
  return { state: 'on', effort, budget, lost: isOdd || isLess(wish, { effort, budget }) };
}

/** True where another effort replaces one, one of two measures replaces both, or none is left. */
function isLess(wish: Wish, { effort, budget }: Amount): boolean {
  if (wish.effort !== undefined && effort !== undefined && effort !== wish.effort) return true;
  const isUnsaid = effort === undefined || budget === undefined;
  if (wish.effort !== undefined && wish.budget !== undefined) return isUnsaid;
  return wish.effort !== undefined && effort === undefined && budget === undefined;
}

type Amount = Pick<ReasoningPlan, 'effort' | 'budget'>;

const IN_FORM: Record<Capabilities['thinking'], (wish: Wish, takes: Capabilities) => Amount> = {
  any: ({ effort, budget }, takes) => ({
    effort: taken(effort, takes),
    ...(budget !== undefined && { budget: bounded(budget, takes) }),
  }),
  adaptive: (wish, takes) => ({ effort: taken(effortMeant(wish), takes) }),
  budget: ({ effort, budget }, takes) => ({
    effort: taken(effort, takes),
    budget: bounded(budget ?? budgetOfEffort(effort ?? USUAL), takes),
  }),
  effort: (wish, takes) => ({
    effort: taken(effortMeant(wish) ?? (wish.isOpen ? USUAL : undefined), takes),
  }),
  none: () => ({}),
};

function effortMeant({ effort, budget }: Wish): Effort | undefined {
  return effort ?? (budget === undefined ? undefined : effortOfBudget(budget));
}

/** Undefined where there is no room for both an answer and the least that the model takes. */
function budgetWithin(
  budget: number,
  maxOutputTokens: number | undefined,
  { min_budget: least }: Capabilities,
): number | undefined {
  if (maxOutputTokens === undefined) return budget;
  const room = Math.floor(maxOutputTokens * MOST_OF_OUTPUT);
  return room < least ? undefined : Math.min(budget, room);
}

function bounded(budget: number, { min_budget: least, max_budget: most }: Capabilities): number {
  return Math.max(least, Math.min(budget, most ?? Infinity));
}

function taken(effort: Effort | undefined, takes: Capabilities): Effort | undefined {
  if (effort === undefined || takes.efforts === null) return effort;
  return nearestEffort(effort, efforts(takes));
}

/** Efforts apart from `none`, least first. */
function efforts(takes: Capabilities): Effort[] {
  return (takes.efforts ?? []).filter((one) => one !== 'none');
}
