// Clients as they are typed into a list, one a line.

/** More than that are a list of addresses to block. */
export const oneByOneMax = 50;

/** As verdicts name them: kind and keyed hash. */
const principal = /^[a-z][a-z0-9_-]*:[0-9a-f]{16}$/;

/** A country or an autonomous system, of which the control plane works out the networks. */
const place = /^(country|asn?):[a-z0-9]+$/i;

/** The first word of each line that is no comment, as the control plane reads a list. */
export const listedClients = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map(
        (line) =>
          line
            .replace(/[#;].*$/, '')
            .trim()
            .split(/[\s,]+/)[0] ?? '',
      )
      .filter((client) => client !== ''),
  ),
];

/** Whole lists can only be blocked, and name addresses and networks. */
export const needsOneRequestEach = (action: string, clients: readonly string[]): boolean =>
  action !== 'deny' || clients.some((client) => principal.test(client) || place.test(client));
