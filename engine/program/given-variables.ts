// TX variables that whoever runs the engine may give a transaction before phase 1: what is known of a request before
// rules look at it. No rule sets them, so a compiler must not take them for unset (compiler/passes/fold-constants.ts).

/** Without the `tx.`; values are latin1, one code unit per byte. */
export const givenVariables = [
  'apb_score', // points of the bot signals
  'auth_sub', // of a token that was verified: who it is about …
  'auth_iss', // … who made it …
  'auth_client', // … which application it was made for (`client_id` or `azp`) …
  'auth_scope', // … and what it allows
  'ja3',
  'ja4',
] as const;
export type GivenVariable = (typeof givenVariables)[number];

/** Names and values. */
export type GivenValues = readonly (readonly [GivenVariable, string])[];
