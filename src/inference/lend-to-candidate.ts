import { lendCredential } from '../providers/lend-credential.ts';
import type { Candidate } from '../routing/plan.ts';
import type { Call } from './types.ts';

/**
 * The candidate with the client's own credential. As it is, and so passed over, for calls that no client makes
 * or that outlive it, and where it means another provider: a credential goes to one, whatever fails.
 *
 * @throws GatewayError `missing_client_credential`, `client_credential_refused`
 */
export async function lendToCandidate(
  { request, peek }: Call,
  candidate: Candidate,
): Promise<Candidate> {
  const { route } = candidate;
  if (!request.clientCredential || peek.background) return candidate;
  const meant = meantBy(request.catalog.models.get(peek.model)?.routes);
  if (route.provider.id !== meant) return candidate;
  const credential = await request.clientCredential(route.provider.name);
  return {
    ...candidate,
    route: { ...route, provider: lendCredential(route.provider, credential) },
  };
}

/** First provider in the order of the model that was asked for, which no fault and no draw changes. */
function meantBy(routes: readonly Candidate['route'][] = []): string | undefined {
  const [first] = routes
    .filter(({ provider }) => provider.auth.type === 'client')
    .toSorted((a, b) => a.priority - b.priority);
  return first?.provider.id;
}
