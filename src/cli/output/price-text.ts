import type { ModelPricing } from '../../client/models.ts';

/** Units in which prices are given, and the words for them. */
const UNITS = [
  ['per_call', 'a call'],
  ['per_image', 'an image'],
  ['per_second', 'a second'],
] as const;

/** `0.15/0.60` per million tokens, `0.02 a call`, or `free`; undefined where no price is known. */
export function shortPrice(pricing: ModelPricing | undefined): string | undefined {
  const { input = null, output = null } = pricing ?? {};
  if (input === null && output === null) return priceText(pricing);
  return `${input ?? '-'}/${output ?? '-'}`;
}

/** `0.15 in, 0.60 out per million tokens`, or `free`; undefined where no price is known. */
export function priceText(pricing: ModelPricing | undefined): string | undefined {
  if (pricing === undefined) return undefined;
  const { input = null, output = null } = pricing;
  const tokens = [
    input === null ? [] : `${input} in`,
    output === null ? [] : `${output} out`,
  ].flat();
  const units = UNITS.flatMap(([member, words]) => {
    const price = pricing[member] ?? null;
    return price === null ? [] : `${price} ${words}`;
  });
  const perMillion = tokens.length === 0 ? [] : `${tokens.join(', ')} per million tokens`;
  if (pricing['per_call'] === '0.00' && tokens.length === 0) return 'free';
  const parts = [perMillion, units].flat();
  return parts.length === 0 ? undefined : parts.join(', ');
}
