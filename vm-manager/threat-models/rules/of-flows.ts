// What may go wrong on the way from one to another.
import type { Condition, ThreatRule } from './rule.js';

const web: Condition = ['protocol', 'is', 'web'];
const outside: Condition = ['from_outside', 'is', true];
const crosses: Condition = ['crosses', 'is', true];
const sensitive: Condition = ['data_level', 'min', 2];
const restricted: Condition = ['data_level', 'min', 3];
const inClear: Condition = ['encrypted', 'is', 'no'];

type Row = Omit<ThreatRule, 'of'>;
const rows: readonly Row[] = [
  {
    ...{ id: 'unknown-caller', stride: 'spoofing', severity: 2, cwes: [306, 862], measures: ['site_auth'] },
    title: 'Nobody asks who calls',
    about: 'The flow crosses a boundary without authentication, so that anybody may be its sender.',
    fix: 'Authenticate every call that crosses a boundary, or say that what it reaches is for everybody.',
    when: [crosses, ['authentication', 'is', 'none'], ['to_kind', 'is', 'process', 'store']],
    worse: [sensitive, ['changes', 'is', true]],
  },
  {
    ...{ id: 'open-operations', stride: 'spoofing', severity: 2, cwes: [306, 862], measures: ['site_auth'] },
    title: 'Operations answer without credentials',
    about: 'The inventory has seen requests without credentials that were answered.',
    fix: 'Ask for credentials, or declare in the specification that the operation is public.',
    when: [['open_operations', 'min', 1]],
    worse: [sensitive, ['administers', 'is', true]],
  },
  {
    ...{ id: 'false-partner', stride: 'spoofing', severity: 2, cwes: [295, 346, 350], measures: [] },
    title: 'Another one answers in the place of a partner',
    about: 'Without encryption, or with certificates that nobody checks, anybody on the way is the partner.',
    fix: 'Verify certificates and names; pin the partner where it is always the same.',
    when: [
      ['to_outside', 'is', true],
      ['encrypted', 'not', 'yes'],
    ],
    worse: [sensitive, inClear],
  },
  {
    ...{ id: 'cross-site-request', stride: 'spoofing', severity: 1, cwes: [352], measures: [] },
    title: 'Another site acts for a person',
    about: 'A browser sends the session along with requests that another page makes.',
    fix: 'Cookies with SameSite, and a token or the Origin header checked with each change.',
    when: [web, ['authentication', 'is', 'session'], ['from_kind', 'is', 'person']],
    worse: [['changes', 'is', true]],
  },
  {
    ...{ id: 'clear-flow', stride: 'information_disclosure', severity: 2, cwes: [319, 523], measures: [] },
    title: 'Data is read on the way',
    about: 'It is not encrypted, so that whoever is on the way reads it.',
    fix: 'TLS on every way, also inside.',
    when: [inClear],
    worse: [sensitive, outside],
  },
  {
    ...{ id: 'changed-on-the-way', stride: 'tampering', severity: 1, cwes: [345, 353, 924], measures: [] },
    title: 'Data is changed on the way',
    about: 'Nothing shows the receiver that a message is as it was sent.',
    fix: 'TLS, or signatures where messages rest in between.',
    when: [crosses, inClear],
    worse: [['changes', 'is', true], outside],
  },
  {
    ...{ id: 'clear-credentials', stride: 'spoofing', severity: 3, cwes: [523, 522, 319], measures: [] },
    title: 'Credentials are read on the way and used again',
    about: 'Passwords, sessions or tokens go over a way that is not encrypted.',
    fix: 'TLS before the first credential, with HSTS for browsers.',
    when: [inClear, ['authentication', 'is', 'credentials', 'session', 'token']],
    worse: [outside],
  },
  {
    ...{
      id: 'objects-of-others',
      stride: 'elevation_of_privilege',
      severity: 2,
      cwes: [639, 863, 285],
      measures: ['object_access'],
    },
    title: 'Objects of others are reached by their id',
    about: 'The operation takes an id, and being logged in is not the same as being allowed to see that object.',
    fix: 'Ask for each object whether this caller may have it; test with two identities.',
    when: [web, ['objects', 'is', true]],
    worse: [restricted, outside],
  },
  {
    ...{
      id: 'functions-of-others',
      stride: 'elevation_of_privilege',
      severity: 2,
      cwes: [285, 862, 863],
      measures: ['site_auth'],
    },
    title: 'Functions of administrators are called by others',
    about: 'Paths of administration stand beside those of everybody.',
    fix: 'Decide by role in one place for every operation; what is not listed is refused.',
    when: [web, ['administers', 'is', true]],
    worse: [outside],
  },
  {
    ...{ id: 'members-too-many', stride: 'tampering', severity: 1, cwes: [915, 20], measures: ['schema'] },
    title: 'Unexpected members are stored',
    about: 'A body with further members, such as a role, changes what its sender may not.',
    fix: 'Take declared members only; enforce the specification.',
    when: [web, ['changes', 'is', true]],
    worse: [outside],
  },
  {
    ...{
      id: 'shadow-operations',
      stride: 'information_disclosure',
      severity: 1,
      cwes: [1059, 912],
      measures: ['schema'],
    },
    title: 'Operations that no specification has',
    about: 'What nobody documents nobody reviews; old versions answer on.',
    fix: 'Add them to the specification, or switch them off.',
    when: [['shadow_operations', 'min', 1]],
    worse: [sensitive],
  },
  {
    ...{ id: 'query-of-documents', stride: 'tampering', severity: 2, cwes: [943], measures: ['injection'] },
    title: 'Queries of documents are made of input',
    about: 'An object in the place of a text changes what a query asks.',
    fix: 'Take texts as texts: check types before they become part of a query.',
    when: [
      ['technology', 'is', 'documents', 'search'],
      ['from_kind', 'is', 'process'],
    ],
    worse: [['from_internet_facing', 'is', true]],
  },
  {
    ...{ id: 'query-of-directory', stride: 'tampering', severity: 2, cwes: [90], measures: ['injection'] },
    title: 'Filters of a directory are made of input',
    about: 'A star in a name finds somebody else.',
    fix: 'Escape by the rules of LDAP filters and names.',
    when: [['technology', 'is', 'directory']],
    worse: [['from_internet_facing', 'is', true]],
  },
  {
    ...{
      id: 'personal-data-leaves',
      stride: 'information_disclosure',
      severity: 2,
      cwes: [359, 201],
      measures: ['leaks'],
    },
    title: 'Personal data leaves',
    about: 'It goes to a system of others, which keeps it by rules of its own.',
    fix: 'Send what is needed only, pseudonyms where they do, with a contract on processing.',
    when: [
      ['to_outside', 'is', true],
      ['personal', 'is', true],
    ],
    worse: [['encrypted', 'not', 'yes']],
  },
  {
    ...{ id: 'way-inside', stride: 'elevation_of_privilege', severity: 2, cwes: [269, 923], measures: [] },
    title: 'A break-in goes on behind the next boundary',
    about: 'A process that the internet reaches may call into another zone.',
    fix: 'Let it call what it needs only, with an identity of its own and few rights.',
    when: [
      ['from_internet_facing', 'is', true],
      crosses,
      ['to_kind', 'is', 'process', 'store'],
      ['authentication', 'not', 'certificate', 'token'],
    ],
    worse: [restricted],
  },
  {
    ...{ id: 'waiting-for-partner', stride: 'denial_of_service', severity: 1, cwes: [400, 1088], measures: [] },
    title: 'A slow partner makes it stand still',
    about: 'A call that waits for a system of others holds what it holds while it waits.',
    fix: 'Time limits, a bound on calls at once, and an answer without the partner.',
    when: [
      ['to_outside', 'is', true],
      ['from_kind', 'is', 'process'],
    ],
    worse: [],
  },
  {
    ...{ id: 'unsigned-messages', stride: 'repudiation', severity: 1, cwes: [345, 347], measures: [] },
    title: 'Messages do not show who sent them',
    about: 'Whoever may write into the queue writes in the name of any sender.',
    fix: 'Rights by topic, and signatures where the sender matters.',
    when: [
      ['technology', 'is', 'queue'],
      ['authentication', 'is', 'none', 'unknown'],
    ],
    worse: [],
  },
];

export const flowRules: readonly ThreatRule[] = rows.map((row) => ({ ...row, of: 'flow' }));
