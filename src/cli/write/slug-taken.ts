import type { TakenSlug } from '../../config/plan/check-online.ts';
import { oneLine } from '../../core/printable.ts';
import { CliError } from '../cli-error.ts';

/** The failure for a slug that another object holds (exit 5). */
export function slugTaken({ object, slug, holder }: TakenSlug): CliError {
  const owner = `${object.kind} ${String(holder['name'])} (${holder.id})`;
  return new CliError({
    code: 'name_taken',
    message: oneLine(`slug: ${slug} belongs to ${owner}`),
    hint: 'choose another slug',
    exit: 'conflict',
  });
}
