// Variables that are no settings of a deployment, hence neither in `.env` nor flags: they tell a single run of a
// command, of the set-up, of the tests or of the benchmark what to do otherwise. Here so that no name is made up at the
// place where it is read.

export const toolVariables = {
  GATEHOUSE_ENV_FILE: 'another place than .env, so that one checkout can run twice',
  GATEHOUSE_UNICODE_MAPPING: 'unicode.mapping of ModSecurity, where `compile` is not to look for it in GATEHOUSE_DATA',
  LICENCE_PUBLIC_KEY:
    'PEM text or file of the key that licences are checked with, taken into the build; default licence-public-key.pem',
  GATEHOUSE_NO_APT: '1: set-up installs no system packages',
  GATEHOUSE_SHARED: 'folder of the corpora that tests, `make crs` and the benchmark use; default ../shared',
  GATEHOUSE_TEST_WITHOUT_POSTGRES: '1: what is stored is not tested on PostgreSQL',
  GATEHOUSE_COLD_APPLY: 'set: the test of changes under load leaves out the warm-up',
  GATEHOUSE_URL: 'where `gatehouse gate` finds the control plane; default http://127.0.0.1:8095',
  GATEHOUSE_TOKEN: 'apt_ token of `gatehouse gate`; the scope ci is enough',
  CI: 'true: set-up installs what only tests need',
  SEED: 'seed of property tests',
  UPDATE: '1: tests rewrite golden files and generated documents instead of failing',
  AGREEMENT_MUTATIONS: 'mutated requests on which both engines have to agree',
  RANDOM_RULE_SETS: 'random rule sets on which both engines have to agree',
  CHAIN_ORGANISATIONS: 'random organisations on which the chain engine has to equal its plain twin',
  TIME_BOUND_CASES: 'texts on which every reader of foreign text is held to its time',
  AMPLIFICATION_BODIES: 'request bodies that the search for much CPU in few bytes tries',
  TZ: 'time zone of the process; tests of local times set it',
  TUNING_EVERY: 'of so many labelled requests one is taken for what tuning calls false',
  PATH_SPELLINGS: 'spellings of a protected path on which gates and sites are held to models of servers',
  SCHEMA_REQUESTS: 'requests that fit for each operation of random OpenAPI documents; five times as many are changed',
  WRONG_INPUT_SHARE: 'one of so many wrong requests to /api/v1 is sent; 1: all',
  INSTALL_KILLS: 'times that the test of install.sh kills it; default 3',
  SOURCE_DATE_EPOCH: 'seconds; the time of every file of a release, default that of the commit',
  GATEHOUSE_TEST_NODE_OPTIONS: 'NODE_OPTIONS of what tests start; the runner sets it',
  TAP_TIMEOUT: 'seconds that a test file may take; the runner sets it',
  BENCH_PEERS: '1: the benchmark measures nginx and nginx with ModSecurity, too',
} as const;
