/** Configuration in which the model `acme/NAME` has one provider at `url`, which speaks protocol NAME alone. */
export const providerPerProtocol = (url: string, protocols: readonly string[]) => ({
  providers: protocols.map((protocol) => ({
    name: `only-${protocol}`,
    type: 'custom',
    base_url: `${url}/${protocol === 'generate-content' ? 'v1beta' : 'v1'}`,
    auth: { type: 'none' },
    protocols: { [protocol]: true },
  })),
  models: protocols.map((protocol) => ({
    name: `acme/${protocol}`,
    routes: [{ provider: `only-${protocol}`, upstream_model: 'up', mapping: 'translated' }],
  })),
});
