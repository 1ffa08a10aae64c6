// Words that name things and actions in paths, whatever stands beside them.

/** Never values: the caller itself, and what one does with a whole collection. */
const fixedWords: ReadonlySet<string> = new Set(
  (
    'me self current mine my new latest all search count default edit login logout signin signup register health ' +
    'healthz status stats metrics export import bulk batch recent popular featured top summary index list info ping ' +
    'version config settings profile admin public private internal graphql swagger docs query first last next ' +
    'previous today yesterday active archived draft drafts trash verify refresh token callback webhook webhooks'
  ).split(' '),
);

const verbs: ReadonlySet<string> = new Set(
  (
    'get list create update delete set add remove find fetch search send make do run start stop cancel check verify ' +
    'reset change upload download export import enable disable approve reject submit confirm resend generate sync ' +
    'validate assign revoke refresh register login logout mark is has clear copy move merge read write save load ' +
    'process calculate request invite accept decline subscribe unsubscribe publish archive restore lock unlock'
  ).split(' '),
);

/** Segments after which names of resources stand, not values. */
const rootWords: ReadonlySet<string> = new Set(['api', 'apis', 'rest', 'rpc', 'public', 'internal', 'services', 'svc']);

/** Collections of people and of their accounts: their members have logins or names as well as ids. */
const peopleWords: ReadonlySet<string> = new Set(
  (
    'user users u people person persons member members author authors customer customers account accounts employee ' +
    'employees staff contact contacts friend friends follower followers patient patients student students teacher ' +
    'teachers player players owner owners creator creators seller sellers username usernames login logins'
  ).split(' '),
);

/** True where `previous` names people: names may stand behind it. */
export const namesPeople = (previous: string | null): boolean =>
  previous !== null && peopleWords.has(previous.toLowerCase());

/** True for words that are names of actions or of places, never values. */
export function isFixed(segment: string): boolean {
  const lower = segment.toLowerCase();
  if (fixedWords.has(lower) || /^(query|mutation|subscription):/.test(segment)) return true;
  const first = /^[a-z]+(?=[-_.A-Z:])/.exec(segment)?.[0];
  return (first !== undefined && verbs.has(first)) || verbs.has(lower);
}

/** True where `previous` is the beginning of an API: what follows are names of resources. */
export const isRoot = (previous: string | null): boolean =>
  previous === null || rootWords.has(previous.toLowerCase()) || /^v\d+(\.\d+)*$/i.test(previous);

/** True where a number behind `previous` is a version: `/rest/api/2`. */
export const namesVersion = (previous: string | null): boolean =>
  previous !== null && /^(api|rest|version|v)$/i.test(previous);
