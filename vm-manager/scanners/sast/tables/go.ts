// Go: net/http, Gin, Echo, Fiber, database/sql, the standard library.
import { goChecks } from './go-checks.js';
import { all, sqlText, type Table, words } from './table.js';

const request = 'net/http.Request';
const verbs = 'Get Post Head PostForm NewRequest NewRequestWithContext';

export const go: Table = {
  sources: {
    [`${request}.FormValue ${request}.PostFormValue ${request}.Form ${request}.PostForm ${request}.MultipartForm`]:
      'form value of the request',
    [`${request}.URL ${request}.URL.Query ${request}.RequestURI ${request}.PathValue ${request}.Host`]:
      'address of the request',
    [`${request}.Header ${request}.Referer ${request}.UserAgent ${request}.Cookie ${request}.Cookies`]:
      'header of the request',
    [`${request}.Body ${request}.FormFile ${request}.MultipartReader`]: 'body of the request',
    'github.com/gorilla/mux.Vars github.com/go-chi/chi.URLParam': 'path parameter of the request',
    ['github.com/gin-gonic/gin.Context.Query github.com/gin-gonic/gin.Context.Param ' +
      'github.com/gin-gonic/gin.Context.PostForm github.com/gin-gonic/gin.Context.DefaultQuery ' +
      'github.com/gin-gonic/gin.Context.GetHeader github.com/gin-gonic/gin.Context.Cookie ' +
      'github.com/gin-gonic/gin.Context.GetQuery']: 'request parameter',
    ['github.com/labstack/echo.Context.QueryParam github.com/labstack/echo.Context.Param ' +
      'github.com/labstack/echo.Context.FormValue']: 'request parameter',
    ['github.com/gofiber/fiber.Ctx.Query github.com/gofiber/fiber.Ctx.Params ' +
      'github.com/gofiber/fiber.Ctx.FormValue github.com/gofiber/fiber.Ctx.Body']: 'request parameter',
    'os.Args': 'argument of the program',
    'os.Getenv': 'variable of the environment',
    'bufio.NewReader bufio.NewScanner': 'input of the program',
    'flag.String flag.Arg flag.Args': 'argument of the program',
  },
  types: {
    'database/sql.Open database/sql.OpenDB': 'database/sql.DB',
    'database/sql.DB.Begin': 'database/sql.Tx',
  },
  sinks: [
    { call: '*.Query *.QueryRow *.Exec *.Prepare *.Raw', harm: 'sql', at: [0] },
    { call: '*.QueryContext *.QueryRowContext *.ExecContext *.PrepareContext', harm: 'sql', at: [1] },
    { call: '*.Where *.Order *.Having *.Select', harm: 'sql', at: [0] },
    { call: '*.Get *.NamedExec *.MustExec *.Queryx', harm: 'sql', at: [0, 1], begins: sqlText },
    { call: 'os/exec.Command syscall.Exec syscall.ForkExec os.StartProcess', harm: 'command', anyArg: true },
    { call: 'os/exec.CommandContext', harm: 'command', at: [1, 2, 3, 4], anyArg: true },
    {
      call:
        'os.Open os.OpenFile os.Create os.ReadFile os.WriteFile os.Remove os.RemoveAll os.Mkdir ' +
        'os.MkdirAll os.Rename ' +
        'os.ReadDir os.Stat io/ioutil.ReadFile io/ioutil.WriteFile io/ioutil.ReadDir',
      harm: 'path',
      at: [0],
    },
    { call: 'net/http.ServeFile', harm: 'path', at: [2] },
    { call: '*.File *.SendFile *.SaveUploadedFile *.Attachment', harm: 'path', at: [0, 1] },
    {
      call: verbs
        .split(' ')
        .map((verb) => `net/http.${verb} net/http.Client.${verb}`)
        .join(' '),
      harm: 'address',
      at: [0, 1, 2],
    },
    { call: 'net.Dial net.DialTimeout net/http.DefaultClient.Get', harm: 'address', at: [0, 1] },
    { call: 'net/http.Redirect', harm: 'redirect', at: [2] },
    { call: '*.Redirect', harm: 'redirect', at: [0, 1] },
    { call: 'net/http.ResponseWriter.Write', harm: 'html' },
    {
      call: 'fmt.Fprintf fmt.Fprint fmt.Fprintln io.WriteString',
      harm: 'html',
      when: { arg: 0, is: /ResponseWriter$/ },
    },
    {
      call: 'html/template.HTML html/template.JS html/template.HTMLAttr html/template.URL html/template.CSS',
      harm: 'html',
    },
    { call: 'encoding/gob.NewDecoder', harm: 'object', at: [0] },
    { call: '*.NewSearchRequest', harm: 'ldap', at: [7] },
    {
      call: 'html/template.New().Parse text/template.New().Parse *.Parse',
      harm: 'template',
      at: [0],
      begins: /\{\{|</,
    },
  ],
  cures: {
    ['strconv.Atoi strconv.ParseInt strconv.ParseUint strconv.ParseFloat strconv.ParseBool len ' +
      'github.com/google/uuid.Parse']: all,
    'path/filepath.Base path.Base': ['path'],
    'html.EscapeString html/template.HTMLEscapeString text/template.HTMLEscapeString html/template.JSEscapeString': [
      'html',
    ],
    'net/url.QueryEscape net/url.PathEscape': ['html', 'path', 'address', 'redirect'],
    'github.com/lib/pq.QuoteIdentifier github.com/lib/pq.QuoteLiteral': ['sql'],
    'github.com/go-ldap/ldap.EscapeFilter': ['ldap'],
    'strconv.Quote': ['log'],
    'encoding/json.Marshal encoding/json.NewEncoder().Encode': ['html'],
    'crypto/sha256.Sum256 crypto/sha512.Sum512': all,
  },
  guards: { 'path/filepath.IsLocal': ['path'] },
  drops: words(
    'Query QueryRow Exec QueryContext QueryRowContext ExecContext Prepare Open OpenFile Create ReadFile ReadDir ' +
      'Post Do NewClient Stat Dial Command CommandContext Run Output CombinedOutput Println Printf ' +
      'Fprintf Contains ' +
      'HasPrefix HasSuffix Equal\\w* Index\\w* Is[A-Z]\\w* Find\\w* First Count Error Errorf New',
  ),
  ends: words('panic os\\.Exit log\\.Fatal\\w*'),
  checks: goChecks,
};
