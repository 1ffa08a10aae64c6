// Every cap of the engine that is not a directive, with its unit and what happens at the edge. Directives (body sizes,
// argument counts, JSON depth) are in EngineSettings.

export const limits = {
  /**
   * Characters of one expanded macro text (msg, logdata, setvar value); the rest is cut. A rule may not amplify a
   * request.
   */
  expandedTextMax: 65_536,
  /**
   * TX variables of one transaction; further names that rules build from macros are ignored (literal names never are).
   */
  txVariablesMax: 10_000,
  /** Characters of a TX or persistent variable's name; longer names are cut. */
  variableNameMax: 1024,
  /** Open records of the in-memory collection store; the one used longest ago makes room. */
  storeRecordsMax: 100_000,
  /** Variables in one persistent record; further new names are ignored. */
  storeVariablesMax: 1000,
  /** Matched rules recorded for one transaction; further matches still act but are not listed. */
  matchedRulesMax: 1000,
  /** Values remembered in MATCHED_VARS for one rule; further ones are not remembered. */
  matchedVarsMax: 10_000,
  /**
   * Values that one rule matches, where matching more only adds to scores; further ones are not tested. More where the
   * program compares scores with more (evaluate/matches-max.ts).
   */
  scoredMatchesMax: 256,
} as const;
