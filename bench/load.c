/* The load on both sides of a proxy, and the cheapest proxy there can be, in one small program:
 *
 *   load client STEP... -- COMMAND ARG...   starts COMMAND as a proxy, acts as a client, prints one JSON line per step
 *   load agent NAME                         an agent on stdio that follows the instructions in the prompt
 *   load relay -- COMMAND ARG...            copies bytes between its own stdio and COMMAND's
 *
 * Both sides make frames with the same code, so the client knows every byte that must arrive, and in which order. It compares each
 * frame with the one expected and stops at the first that differs; a digest over all of them is printed as well, so that
 * runs of different proxies can be compared. `load.mjs` speaks the same language, for machines without a compiler.
 *
 * Steps: layout:sdk (the order of members to expect) | init | new:n=4,agents=4 | idle:ms=500 | round:PART+PART... | flood:s=0,bytes=100m
 * A part: s=0-3 (sessions), do=stream|ping|stop-reading, and for
 *   stream: kind=small|diff|base64, size=1m, frames=N, batch=64 (frames per write), group=K (prompts to wait for, then taken in turns),
 *           push=N (frames the client sends meanwhile), until=cancel, stall=MS (the client does not read for so long)
 *   ping:   n=N or ms=MS, pause=US; reads a file of the client's, over and over
 *   stop-reading: the agent stops reading; flood=BYTES are sent to it
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
  fprintf(stderr, "load: %s\n", what);
  printf("{\"error\":\"%s\"}\n", what);
  fflush(stdout);
  exit(1);
}
static void *grow(void *p, size_t n) {
  p = realloc(p, n);
  if (!p) fail("out of memory");
  return p;
}
static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ---- options: key=value,key=value ---- */

static const char *find_option(const char *part, const char *key, size_t *len) {
  size_t n = strlen(key);
  for (const char *at = part; *at;) {
    const char *end = at + strcspn(at, ",");
    if ((size_t)(end - at) > n && !strncmp(at, key, n) && at[n] == '=') {
      *len = end - at - n - 1;
      return at + n + 1;
    }
    at = *end ? end + 1 : end;
  }
  return NULL;
}
static long option(const char *part, const char *key, long otherwise) {
  size_t len;
  const char *value = find_option(part, key, &len);
  if (!value) return otherwise;
  char *end;
  long n = strtol(value, &end, 10);
  return *end == 'k' ? n << 10 : *end == 'm' ? n << 20 : n;
}
static int is_option(const char *part, const char *key, const char *expected) {
  size_t len;
  const char *value = find_option(part, key, &len);
  return value && len == strlen(expected) && !strncmp(value, expected, len);
}

/* ---- frames ---- */

enum { SMALL, DIFF, BASE64, NOTE };
#define VARIETY 16
typedef struct {
  char *bytes;
  size_t len, seq_at, seq_at_end;
} Frame;
typedef struct {
  int kind, count;
  size_t size;
  Frame frames[VARIETY];
} Frames;

static int kind_of(const char *part) { return is_option(part, "kind", "diff") ? DIFF : is_option(part, "kind", "base64") ? BASE64 : SMALL; }

/* What a model streams: a few words, now and then a line feed, a quote, a character outside ASCII. As JSON text. */
static const char *WORDS[VARIETY] = {
    " the function",        " returns a new array of",  " that `splice` leaves alone,\\n", " and so on",
    " const total = ",      " sums.reduce((a, b) =>",   " a + b, 0);\\n\\n",               " Next we look at",
    " the \\\"strict\\\" flag", " in tsconfig.json",    " \xe2\x80\x94 which is off,",     " caf\xc3\xa9",
    " so null",             " checks are not made\\n",  " for this file. I will change",   " it.",
};
/* A line of source in a diff: escapes every few dozen bytes, some UTF-8. */
static const char CODE[] =
    "  const \xc3\xbc = items.filter((item) => item.name !== \\\"\\\" && item.size > 0); // \xe2\x86\x92 keep\\n"
    "\\tif (\xc3\xbc.length === 0) throw new Error(`nothing left of ${items.length} items`);\\n"
    "  return \xc3\xbc.map(({ name, size }) => ({ label: name.trim(), bytes: size * 1024 }));\\n}\\n\\n";
static const char BASE64_ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* %s the session, %n the frame's number (twice at most), %t its text. The ACP SDK writes the members of an update in an order of its own. */
#define UPDATE "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\""
static const char *LAYOUTS[2][4] = {
    {
        UPDATE "%s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"%n%t\"}}}}\n",
        UPDATE "%s\",\"update\":{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"call_%n\",\"content\":[{\"type\":\"diff\",\"path\":\"/bench/file.ts\",\"oldText\":\"\",\"newText\":\"%t%n\"}]}}}\n",
        UPDATE "%s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"image\",\"data\":\"%n%t%n\",\"mimeType\":\"image/png\"}}}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"_bench/note\",\"params\":{\"sessionId\":\"%s\",\"text\":\"%n%t\"}}\n",
    },
    {
        UPDATE "%s\",\"update\":{\"content\":{\"text\":\"%n%t\",\"type\":\"text\"},\"sessionUpdate\":\"agent_message_chunk\"}}}\n",
        UPDATE "%s\",\"update\":{\"toolCallId\":\"call_%n\",\"content\":[{\"path\":\"/bench/file.ts\",\"oldText\":\"\",\"newText\":\"%t%n\",\"type\":\"diff\"}],\"sessionUpdate\":\"tool_call_update\"}}}\n",
        UPDATE "%s\",\"update\":{\"content\":{\"data\":\"%n%t%n\",\"mimeType\":\"image/png\",\"type\":\"image\"},\"sessionUpdate\":\"agent_message_chunk\"}}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"_bench/note\",\"params\":{\"sessionId\":\"%s\",\"text\":\"%n%t\"}}\n",
    },
};
static int layout; /* the client's, for what comes out of a proxy */

static char *append(char *at, const char *text) {
  size_t n = strlen(text);
  memcpy(at, text, n);
  return at + n;
}
static char *append_text(char *at, int kind, size_t size, int i) {
  char *end = at + size;
  if (kind == SMALL || kind == NOTE) return append(at, WORDS[i]);
  if (kind == DIFF)
    while (at < end) at = append(at, CODE);
  else
    for (uint32_t x = 1; at < end; x = x * 1664525 + 1013904223) *at++ = BASE64_ALPHABET[x >> 26];
  return at;
}
static void make_frames(Frames *set, int kind, size_t size, const char *session) {
  if (set->count && set->kind == kind && set->size == size) return;
  for (int i = 0; i < set->count; i++) free(set->frames[i].bytes);
  set->kind = kind;
  set->size = size;
  set->count = kind == SMALL || kind == NOTE ? VARIETY : 1;
  for (int i = 0; i < set->count; i++) {
    Frame *frame = &set->frames[i];
    char *at = frame->bytes = grow(NULL, size + 1024);
    frame->seq_at = frame->seq_at_end = 0;
    for (const char *from = LAYOUTS[layout][kind]; *from; from++)
      if (*from != '%') *at++ = *from;
      else if (*++from == 's') at = append(at, session);
      else if (*from == 't') at = append_text(at, kind, size, i);
      else {
        *(frame->seq_at ? &frame->seq_at_end : &frame->seq_at) = at - frame->bytes;
        at += 8;
      }
    frame->len = at - frame->bytes;
  }
}
static void put_digits(char *at, uint32_t n) {
  for (int i = 7; i >= 0; i--, n /= 10) at[i] = '0' + n % 10;
}
/* The frame with this number; valid until the next call for the same set. */
static Frame *frame_at(Frames *set, uint32_t seq) {
  Frame *frame = &set->frames[seq % set->count];
  put_digits(frame->bytes + frame->seq_at, seq);
  if (frame->seq_at_end) put_digits(frame->bytes + frame->seq_at_end, seq);
  return frame;
}
static uint32_t digest(uint32_t h, const char *bytes, size_t len) {
  size_t i = 0;
  for (uint32_t word; i + 4 <= len; i += 4) {
    memcpy(&word, bytes + i, 4);
    h = (h ^ word) * 0x9e3779b1u;
    h ^= h >> 15;
  }
  for (; i < len; i++) h = (h ^ (unsigned char)bytes[i]) * 0x01000193u;
  return h;
}

/* ---- lines in, bytes out ---- */

typedef struct {
  int fd, is_over;
  char *bytes;
  size_t start, end, cap, seen;
} Reader;

/* Reads once; 0 when there is nothing now. */
static int fill(Reader *r) {
  if (r->start == r->end) r->start = r->end = r->seen = 0;
  if (r->cap - r->end < 65536 && r->start > 0) {
    memmove(r->bytes, r->bytes + r->start, r->end - r->start);
    r->end -= r->start;
    r->seen -= r->start;
    r->start = 0;
  }
  if (r->cap - r->end < 65536) r->bytes = grow(r->bytes, r->cap = r->cap * 2 + (1 << 18));
  ssize_t n = read(r->fd, r->bytes + r->end, r->cap - r->end);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (n <= 0) {
    r->is_over = 1;
    return 0;
  }
  r->end += n;
  return 1;
}
/* The next whole line, its line feed included. */
static char *next_line(Reader *r, size_t *len) {
  char *lf = memchr(r->bytes + r->seen, '\n', r->end - r->seen);
  if (!lf) {
    r->seen = r->end;
    return NULL;
  }
  char *line = r->bytes + r->start;
  *len = lf + 1 - line;
  r->start = r->seen = lf + 1 - r->bytes;
  return line;
}
typedef struct {
  char *bytes;
  size_t start, end, cap;
} Out;
static void put(Out *out, const char *bytes, size_t len) {
  if (out->start == out->end) out->start = out->end = 0;
  if (out->end + len > out->cap) out->bytes = grow(out->bytes, out->cap = (out->end + len) * 2);
  memcpy(out->bytes + out->end, bytes, len);
  out->end += len;
}
static void put_text(Out *out, const char *text) { put(out, text, strlen(text)); }
static void write_all(int fd, const char *bytes, size_t len) {
  while (len) {
    ssize_t n = write(fd, bytes, len);
    if (n < 0 && errno == EAGAIN) {
      struct pollfd p = {fd, POLLOUT, 0};
      poll(&p, 1, -1);
      continue;
    }
    if (n < 0) exit(errno == EPIPE ? 0 : 1);
    bytes += n;
    len -= n;
  }
}
static const char *find(const char *line, size_t len, const char *what) { return memmem(line, len, what, strlen(what)); }
/* The beginning of a line identifies it. */
static size_t head(size_t len) { return len < 400 ? len : 400; }
/* The token behind `"key":`, as it is written, up to a comma or brace. */
static int token(const char *line, size_t len, const char *key, char *into, size_t room) {
  const char *at = find(line, len, key);
  if (!at) return 0;
  at += strlen(key);
  size_t n = 0;
  while (at + n < line + len && n + 1 < room && at[n] != ',' && at[n] != '}') n++;
  memcpy(into, at, n);
  into[n] = 0;
  return 1;
}
/* The string behind `"key":"`, which has no escapes in our frames. */
static int string_at(const char *line, size_t len, const char *key, char *into, size_t room) {
  const char *at = find(line, len, key);
  if (!at) return 0;
  at += strlen(key);
  size_t n = 0;
  while (at + n < line + len && n + 1 < room && at[n] != '"') n++;
  memcpy(into, at, n);
  into[n] = 0;
  return 1;
}

/* ---- agent ---- */

typedef struct {
  char id[48];
  int is_cancelled;
  uint32_t notes, note_digest;
  Frames frames, expected_notes;
} Own;
typedef struct {
  int session;
  char id[64];
} Prompt;

static struct {
  const char *name;
  Reader in;
  Own *sessions;
  int count;
  Prompt *waiting;
  int waiting_count;
  char reply[96]; /* the token of the last answer's content */
  int has_reply;
} agent;

static void send_text(const char *text) { write_all(1, text, strlen(text)); }
static Own *own_session(const char *line, size_t len, int *index) {
  char id[64];
  if (!string_at(line, len, "\"sessionId\":\"", id, sizeof id)) return NULL;
  const char *ordinal = strrchr(id, '_');
  int i = ordinal ? atoi(ordinal + 1) : -1;
  if (i < 0 || i >= agent.count || strcmp(agent.sessions[i].id, id)) return NULL;
  if (index) *index = i;
  return &agent.sessions[i];
}
static void answer_prompt(const char *id, const char *bench, int is_cancelled) {
  char text[512];
  snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"stopReason\":\"%s\",\"_meta\":{\"bench\":{%s}}}}\n", id,
           is_cancelled ? "cancelled" : "end_turn", bench);
  send_text(text);
}
static void agent_line(char *line, size_t len);
/* Takes in what has come; waits for something if asked to. */
static void agent_read(int wait) {
  struct pollfd p = {0, POLLIN, 0};
  if (poll(&p, 1, wait ? -1 : 0) <= 0) return;
  fill(&agent.in);
  if (agent.in.is_over) exit(0);
  size_t len;
  for (char *line; (line = next_line(&agent.in, &len));) agent_line(line, len);
}

static void stream(const char *part, Prompt *prompts, int count) {
  uint32_t frames = option(part, "frames", 1000), pushes = option(part, "push", 0);
  long batch = option(part, "batch", 64);
  int until_cancel = is_option(part, "until", "cancel"), looks_up = until_cancel || pushes > 0, kind = kind_of(part);
  static Out out;
  long in_batch = 0;
  for (int k = 0; k < count; k++) make_frames(&agent.sessions[prompts[k].session].frames, kind, option(part, "size", 0), agent.sessions[prompts[k].session].id);
  for (uint32_t seq = 0; until_cancel ? !agent.sessions[prompts[0].session].is_cancelled : seq < frames; seq++)
    for (int k = 0; k < count; k++) {
      Frame *frame = frame_at(&agent.sessions[prompts[k].session].frames, seq);
      if (frame->len > 65536) write_all(1, frame->bytes, frame->len);
      else {
        put(&out, frame->bytes, frame->len);
        if (++in_batch < batch) continue;
        write_all(1, out.bytes, out.end);
        out.end = in_batch = 0;
      }
      if (looks_up) agent_read(0);
    }
  write_all(1, out.bytes, out.end);
  out.end = 0;
  for (int k = 0; k < count; k++) {
    Own *session = &agent.sessions[prompts[k].session];
    while (session->notes < pushes) agent_read(1);
    char bench[96];
    snprintf(bench, sizeof bench, "\"notes\":%u,\"digest\":%u", session->notes, session->note_digest);
    session->notes = session->note_digest = 0;
    answer_prompt(prompts[k].id, bench, session->is_cancelled);
    session->is_cancelled = 0;
  }
}

static int by_size(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}
static void ping(const char *part, Prompt *prompt) {
  long n = option(part, "n", 1 << 20), pause_us = option(part, "pause", 0);
  int64_t until = now_ns() + option(part, "ms", 3600 * 1000) * 1000000LL;
  int64_t *took = grow(NULL, n * sizeof *took);
  long count = 0;
  for (; count < n && now_ns() < until; count++) {
    char text[256], expected[48];
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"%s\",\"path\":\"/bench/file.txt\",\"line\":%ld}}\n",
             count + 100, agent.sessions[prompt->session].id, count + 1);
    snprintf(expected, sizeof expected, "line %ld of the file", count + 1);
    agent.has_reply = 0;
    int64_t from = now_ns();
    send_text(text);
    while (!agent.has_reply) agent_read(1);
    took[count] = now_ns() - from;
    if (strcmp(agent.reply, expected)) {
      fprintf(stderr, "load agent: expected \"%s\", got \"%s\"\n", expected, agent.reply);
      exit(3);
    }
    if (pause_us) usleep(pause_us);
  }
  qsort(took, count, sizeof *took, by_size);
  char bench[256];
#define AT(q) (long long)(count ? took[(long)((count - 1) * (q))] : 0)
  snprintf(bench, sizeof bench, "\"n\":%ld,\"min\":%lld,\"p50\":%lld,\"p90\":%lld,\"p99\":%lld,\"max\":%lld", count, AT(0), AT(0.5), AT(0.9), AT(0.99), AT(1));
  free(took);
  answer_prompt(prompt->id, bench, 0);
}

static void agent_prompt(char *line, size_t len) {
  char part[256], id[64];
  Prompt prompt;
  if (!string_at(line, len, "\"text\":\"", part, sizeof part) || !token(line, len, "\"id\":", id, sizeof id)) return;
  if (!own_session(line, len, &prompt.session)) {
    char text[160];
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32002,\"message\":\"no such session\"}}\n", id);
    return send_text(text);
  }
  strcpy(prompt.id, id);
  if (is_option(part, "do", "ping")) return ping(part, &prompt);
  if (is_option(part, "do", "stop-reading"))
    for (;;) pause();
  agent.waiting = grow(agent.waiting, (agent.waiting_count + 1) * sizeof prompt);
  agent.waiting[agent.waiting_count++] = prompt;
  if (agent.waiting_count < option(part, "group", 1)) return;
  Prompt *taken = agent.waiting;
  int count = agent.waiting_count;
  agent.waiting = NULL;
  agent.waiting_count = 0;
  stream(part, taken, count);
  free(taken);
}
static void agent_note(char *line, size_t len) {
  Own *session = own_session(line, head(len), NULL);
  if (!session) return;
  make_frames(&session->expected_notes, NOTE, 0, session->id);
  Frame *expected = frame_at(&session->expected_notes, session->notes);
  if (len != expected->len || memcmp(line, expected->bytes, len)) {
    fprintf(stderr, "load agent: note %u is not the one expected: %.*s", session->notes, (int)len, line);
    exit(3);
  }
  session->notes++;
  session->note_digest = digest(session->note_digest, line, len);
}
static void agent_line(char *line, size_t len) {
  char id[64], text[512];
  size_t top = head(len);
  if (find(line, top, "\"method\":\"_bench/note\"")) return agent_note(line, len);
  if (!find(line, top, "\"method\":")) {
    agent.has_reply = string_at(line, len, "\"content\":\"", agent.reply, sizeof agent.reply);
    if (!agent.has_reply) {
      fprintf(stderr, "load agent: not an answer: %.*s", (int)len, line);
      exit(3);
    }
    return;
  }
  if (find(line, top, "\"session/cancel\"")) {
    Own *session = own_session(line, len, NULL);
    if (session) session->is_cancelled = 1;
    return;
  }
  if (!token(line, len, "\"id\":", id, sizeof id)) return;
  if (find(line, top, "\"session/prompt\"")) return agent_prompt(line, len);
  if (find(line, top, "\"initialize\""))
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":false,\"promptCapabilities\":{\"embeddedContext\":true}},\"authMethods\":[],\"agentInfo\":{\"name\":\"load-agent\",\"version\":\"1.0.0\"}}}\n", id);
  else if (find(line, top, "\"session/new\"")) {
    agent.sessions = grow(agent.sessions, (agent.count + 1) * sizeof *agent.sessions);
    Own *session = &agent.sessions[agent.count];
    memset(session, 0, sizeof *session);
    snprintf(session->id, sizeof session->id, "ses_%s_7f3a9c_%08d", agent.name, agent.count++);
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"sessionId\":\"%s\"}}\n", id, session->id);
  } else
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"no such method\"}}\n", id);
  send_text(text);
}
static void run_agent(const char *name) {
  agent.name = name;
  for (;;) agent_read(1);
}

/* ---- relay ---- */

static pid_t start(char **command, int *to, int *from, int is_socket) {
  int down[2], up[2];
  if (is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, down) || socketpair(AF_UNIX, SOCK_STREAM, 0, up) : pipe(down) || pipe(up)) fail("no pipe");
  pid_t pid = fork();
  if (pid < 0) fail("cannot fork");
  if (pid == 0) {
    dup2(down[0], 0);
    dup2(up[1], 1);
    close(down[0]), close(down[1]), close(up[0]), close(up[1]);
    execvp(command[0], command);
    fprintf(stderr, "load: cannot start %s\n", command[0]);
    _exit(127);
  }
  close(down[0]), close(up[1]);
  *to = down[1];
  *from = up[0];
  return pid;
}
/* Each way waits by itself: a write that holds up the other way too would wait for an agent that waits for us. */
static struct {
  int from, to;
  char bytes[65536];
  ssize_t at, end;
} ways[2];

static void run_relay(char **command) {
  int to, from;
  start(command, &to, &from, 1); /* as Node's spawn has it */
  ways[0].from = 0, ways[0].to = to, ways[1].from = from, ways[1].to = 1;
  for (int k = 0; k < 2; k++) fcntl(ways[k].to, F_SETFL, fcntl(ways[k].to, F_GETFL) | O_NONBLOCK);
  for (;;) {
    struct pollfd p[2];
    for (int k = 0; k < 2; k++) {
      int has = ways[k].at < ways[k].end;
      p[k] = (struct pollfd){has ? ways[k].to : ways[k].from, has ? POLLOUT : POLLIN, 0};
    }
    poll(p, 2, -1);
    for (int k = 0; k < 2; k++) {
      if (!p[k].revents) continue;
      if (ways[k].at == ways[k].end) {
        ways[k].at = 0;
        ways[k].end = read(ways[k].from, ways[k].bytes, sizeof ways[k].bytes);
        if (ways[k].end <= 0) exit(0);
      }
      ssize_t n = write(ways[k].to, ways[k].bytes + ways[k].at, ways[k].end - ways[k].at);
      if (n > 0) ways[k].at += n;
      else if (errno != EAGAIN) exit(0);
    }
  }
}

/* ---- client ---- */

typedef struct {
  char id[64];
  Frames frames, notes;
  uint32_t next, digest, pushed;
} Session;
enum { FREE = 0, INITIALIZE, OPENING, PROMPT, FLOODED /* may be answered with an error */ };
typedef struct {
  int what, session, part;
} Pending;
typedef struct {
  char text[256];
  int first, last;
  int open; /* prompts not answered yet */
  int is_endless, stops_reading;
  long push, flood;
  long frames; /* to be had before the answer; -1 where that is open */
} Part;
#define MAX_PARTS 4

static struct {
  pid_t pid;
  int in; /* the proxy's stdin */
  Reader from;
  Out out;
  Session *sessions;
  int session_count, last_met;
  int *table, table_size; /* sessions by a hash of their ids */
  Pending *pending;
  int pending_count, pending_cap, open, errors;
  Part parts[MAX_PARTS];
  int part_count;
  uint64_t frames, bytes, extras;
  char *bench; /* what agents have measured, as the members of a JSON array */
  int64_t deadline, first_ns;
  int step;
  long timeout_ms;
} client;

static void client_fail(const char *what, const char *line, size_t len) {
  printf("{\"error\":\"%s in step %d\"}\n", what, client.step);
  fflush(stdout);
  fprintf(stderr, "load: %s in step %d%s%.*s\n", what, client.step, line ? ": " : "", line ? (int)(len < 300 ? len : 300) : 0, line ? line : "");
  kill(client.pid, SIGTERM);
  usleep(300000);
  kill(client.pid, SIGKILL);
  exit(1);
}
static long long cpu_ns(pid_t pid) {
#ifdef __linux__
  char path[300];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *dir = opendir(path);
  if (!dir) return -1;
  long long sum = 0;
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", pid, entry->d_name);
    FILE *file = fopen(path, "r");
    long long ns;
    if (file && fscanf(file, "%lld", &ns) == 1) sum += ns;
    if (file) fclose(file);
  }
  closedir(dir);
  return sum;
#else
  (void)pid;
  return -1;
#endif
}
static long long own_cpu_ns(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000LL + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000LL;
}
/* VmRSS or VmHWM in kB; -1 where there is no /proc. */
static long memory_kb(pid_t pid, const char *field) {
  char path[64], line[256];
  long kb = -1;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, field, strlen(field))) kb = atol(line + strlen(field) + 1);
  fclose(file);
  return kb;
}
static void reset_peak(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/clear_refs", pid);
  int fd = open(path, O_WRONLY);
  if (fd < 0) return;
  if (write(fd, "5", 1) < 0) { /* then the peak is that of the whole process */
  }
  close(fd);
}
/* Until the proxy sleeps: the time of a running thread is not all on its account yet. */
static void settle(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", client.pid);
  for (int i = 0, asleep = 0; i < 100 && asleep < 3; i++) {
    usleep(1000);
    FILE *file = fopen(path, "r");
    if (!file) return;
    char line[512];
    char *state = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    asleep = state && state[2] == 'S' ? asleep + 1 : 0;
    fclose(file);
  }
}

static uint32_t hash_id(const char *id, size_t len) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)id[i]) * 16777619u;
  return h ^ h >> 13;
}
static void index_sessions(void) {
  client.table_size = 64;
  while (client.table_size < client.session_count * 3) client.table_size *= 2;
  client.table = grow(client.table, client.table_size * sizeof(int));
  memset(client.table, -1, client.table_size * sizeof(int));
  for (int i = 0; i < client.session_count; i++) {
    uint32_t at = hash_id(client.sessions[i].id, strlen(client.sessions[i].id));
    while (client.table[at & (client.table_size - 1)] != -1) at++;
    client.table[at & (client.table_size - 1)] = i;
  }
}
static Session *session_named(const char *id, size_t len) {
  if (client.table_size == 0) return NULL;
  Session *last = &client.sessions[client.last_met];
  if (strlen(last->id) == len && !memcmp(last->id, id, len)) return last;
  for (uint32_t at = hash_id(id, len);; at++) {
    int i = client.table[at & (client.table_size - 1)];
    if (i == -1) return NULL;
    Session *session = &client.sessions[i];
    if (strlen(session->id) == len && !memcmp(session->id, id, len)) {
      client.last_met = i;
      return session;
    }
  }
}
static int request_id(int what, int session, int part) {
  if (client.pending_count == client.pending_cap) client.pending = grow(client.pending, (client.pending_cap = client.pending_cap * 2 + 64) * sizeof(Pending));
  client.pending[client.pending_count] = (Pending){what, session, part};
  client.open++;
  return client.pending_count++;
}

static void on_update(char *line, size_t len, const char *id) {
  const char *quote = memchr(id, '"', line + len - id);
  Session *session = quote ? session_named(id, quote - id) : NULL;
  if (session && session->frames.count) {
    Frame *expected = frame_at(&session->frames, session->next);
    if (len == expected->len && !memcmp(line, expected->bytes, len)) {
      session->next++;
      session->digest = digest(session->digest, line, len);
      client.frames++;
      client.bytes += len;
      if (client.frames == 1) client.first_ns = now_ns();
      return;
    }
  }
  /* Not from the agent; a proxy may send its own updates for a session. */
  if (find(line, head(len), "_message_chunk\"") || find(line, head(len), "\"toolCallId\"")) {
    if (session) fprintf(stderr, "load: frame %u of %s is not the one expected\n", session->next, session->id);
    client_fail("a frame is wrong, or not in its place", line, len);
  }
  client.extras++;
}
static void on_request(char *line, size_t len) {
  char id[64], number[32], text[256];
  if (!token(line, len, "\"id\":", id, sizeof id)) return;
  if (find(line, head(len), "\"fs/read_text_file\"") && token(line, len, "\"line\":", number, sizeof number))
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":\"line %s of the file\"}}\n", id, number);
  else
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"no such method\"}}\n", id);
  put_text(&client.out, text);
}
static void on_response(char *line, size_t len) {
  char id[64];
  if (!token(line, len, "\"id\":", id, sizeof id)) client_fail("neither request nor answer", line, len);
  int n = atoi(id);
  if (n < 0 || n >= client.pending_count || client.pending[n].what == FREE) client_fail("an answer to no request", line, len);
  Pending *pending = &client.pending[n];
  int is_error = !find(line, len, "\"result\":");
  if (is_error && pending->what != FLOODED) client_fail("an error", line, len);
  client.errors += is_error;
  client.open--;
  if (pending->what == PROMPT) {
    Part *part = &client.parts[pending->part];
    part->open--;
    if (part->frames >= 0 && client.sessions[pending->session].next != (uint32_t)part->frames) client_fail("an answer before the last frame", line, len);
    char *bench = (char *)find(line, len, "\"bench\":{");
    if (bench) {
      char *end = memchr(bench, '}', line + len - bench);
      size_t had = client.bench ? strlen(client.bench) : 0, more = end + 1 - (bench + 8);
      client.bench = grow(client.bench, had + more + 2);
      if (had) client.bench[had++] = ',';
      memcpy(client.bench + had, bench + 8, more);
      client.bench[had + more] = 0;
    }
  } else if (pending->what == OPENING) {
    Session *session = &client.sessions[pending->session];
    if (!string_at(line, len, "\"sessionId\":\"", session->id, sizeof session->id)) client_fail("no session", line, len);
  }
  pending->what = FREE;
}
static void on_line(char *line, size_t len) {
  const char *id;
  if (len > sizeof UPDATE && !memcmp(line, UPDATE, sizeof UPDATE - 1)) return on_update(line, len, line + sizeof UPDATE - 1);
  size_t top = head(len);
  if (find(line, top, "\"method\":\"session/update\"")) {
    id = find(line, top, "\"sessionId\":\"");
    return id ? on_update(line, len, id + 13) : client_fail("an update of no session", line, len);
  }
  const char *method = find(line, top, "\"method\":"), *error = find(line, top, "\"error\":");
  /* Behind an error there may be the methods of frames it tells of. */
  if (method && (!error || method < error)) return on_request(line, len);
  on_response(line, len);
}

/* One turn of the loop: write what can be written, read what has come (unless `is_stalled`), for at most `wait_ms`. */
static void turn(int is_stalled, int wait_ms) {
  if (now_ns() > client.deadline) client_fail("too late", NULL, 0);
  struct pollfd p[2] = {{is_stalled ? -1 : client.from.fd, POLLIN, 0}, {client.out.start < client.out.end ? client.in : -1, POLLOUT, 0}};
  poll(p, 2, wait_ms);
  if (p[1].revents) {
    ssize_t n = write(client.in, client.out.bytes + client.out.start, client.out.end - client.out.start);
    if (n > 0) client.out.start += n;
    else if (n < 0 && errno != EAGAIN) client_fail("the proxy takes nothing any more", NULL, 0);
  }
  if (!p[0].revents) return;
  fill(&client.from);
  size_t len;
  for (char *line; (line = next_line(&client.from, &len));) on_line(line, len);
  if (client.from.is_over) client_fail("the proxy has ended", NULL, 0);
}
static void flush_now(void) {
  /* Most requests go out at once; the rest follows in turn(). */
  ssize_t n = write(client.in, client.out.bytes + client.out.start, client.out.end - client.out.start);
  if (n > 0) client.out.start += n;
}

static void step_init(int64_t started) {
  char text[400];
  snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":{\"readTextFile\":true,\"writeTextFile\":true},\"terminal\":true},\"clientInfo\":{\"name\":\"load\",\"version\":\"1.0.0\"}}}\n",
           request_id(INITIALIZE, 0, 0));
  put_text(&client.out, text);
  flush_now();
  while (client.open) turn(0, 1000);
  int64_t wall = now_ns() - started;
  long long cpu = cpu_ns(client.pid);
  printf("{\"step\":\"init\",\"wallNs\":%lld,\"cpuNs\":%lld", (long long)wall, cpu);
}
static void step_new(const char *options) {
  int n = option(options, "n", 1), agents = option(options, "agents", 1), before = client.session_count;
  client.sessions = grow(client.sessions, (before + n) * sizeof(Session));
  memset(client.sessions + before, 0, n * sizeof(Session));
  client.session_count += n;
  int64_t from = now_ns();
  long long cpu = cpu_ns(client.pid);
  for (int i = before; i < before + n; i++) {
    char text[400], meta[80] = "";
    if (agents > 1) snprintf(meta, sizeof meta, ",\"_meta\":{\"acp-switchboard\":{\"agent\":\"a%d\"}}", i % agents);
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"session/new\",\"params\":{\"cwd\":\"/bench/work\",\"mcpServers\":[]%s}}\n", request_id(OPENING, i, 0), meta);
    put_text(&client.out, text);
    /* A client opens its sessions one after the other; a hundred at once keep the step short. */
    if (client.open >= 100)
      while (client.open) turn(0, 1000);
  }
  while (client.open) turn(0, 1000);
  index_sessions();
  settle();
  printf("{\"step\":\"new\",\"sessions\":%d,\"wallNs\":%lld,\"cpuNs\":%lld", client.session_count, (long long)(now_ns() - from), cpu_ns(client.pid) - cpu);
}
static void step_idle(const char *options) {
  long ms = option(options, "ms", 500);
  long long cpu = cpu_ns(client.pid);
  for (int64_t until = now_ns() + ms * 1000000LL; now_ns() < until;) turn(0, 10);
  printf("{\"step\":\"idle\",\"wallNs\":%lld,\"cpuNs\":%lld", ms * 1000000LL, cpu_ns(client.pid) - cpu);
}

static void send_prompt(int session, int part, const char *text_of_prompt) {
  char text[700];
  snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"%s\",\"prompt\":[{\"type\":\"text\",\"text\":\"%s\"}]}}\n",
           request_id(client.parts[part].stops_reading ? FLOODED : PROMPT, session, part), client.sessions[session].id, text_of_prompt);
  put_text(&client.out, text);
}
/* A request that nobody will read, and that waits for no turn. */
static void send_bulk(int session) {
  static char bulk[65537];
  if (!bulk[0]) memset(bulk, 'x', sizeof bulk - 1);
  char text[300];
  snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"_bench/bulk\",\"params\":{\"sessionId\":\"%s\",\"text\":\"",
           request_id(FLOODED, session, 0), client.sessions[session].id);
  put_text(&client.out, text);
  put(&client.out, bulk, sizeof bulk - 1);
  put_text(&client.out, "\"}}\n");
}
/* Keeps the way to the proxy busy without piling up here. */
static void feed(void) {
  for (int k = 0; k < client.part_count; k++) {
    Part *part = &client.parts[k];
    Session *session = &client.sessions[part->first];
    while (session->pushed < part->push && client.out.end - client.out.start < 16384) {
      Frame *frame = frame_at(&session->notes, session->pushed++);
      put(&client.out, frame->bytes, frame->len);
    }
    for (; part->flood > 0 && client.out.end - client.out.start < 65536; part->flood -= 65536) send_bulk(part->first);
  }
}
static void read_parts(char *text) {
  client.part_count = 0;
  for (char *at = strtok(text, "+"); at && client.part_count < MAX_PARTS; at = strtok(NULL, "+")) {
    Part *part = &client.parts[client.part_count++];
    memset(part, 0, sizeof *part);
    snprintf(part->text, sizeof part->text, "%s", at);
    size_t len;
    const char *range = find_option(at, "s", &len);
    part->first = part->last = range ? atoi(range) : 0;
    const char *dash = range ? memchr(range, '-', len) : NULL;
    if (dash) part->last = atoi(dash + 1);
    if (part->last >= client.session_count) fail("no such session");
    part->is_endless = is_option(at, "until", "cancel");
    part->stops_reading = is_option(at, "do", "stop-reading");
    part->push = option(at, "push", 0);
    part->flood = option(at, "flood", 0);
    part->frames = is_option(at, "do", "stream") && !part->is_endless ? option(at, "frames", 1000) : -1;
  }
}
static int is_round_over(void) {
  int others = 0, endless = 0, feeding = 0;
  for (int k = 0; k < client.part_count; k++) {
    Part *part = &client.parts[k];
    feeding |= part->flood > 0 || client.sessions[part->first].pushed < part->push;
    if (part->stops_reading) continue;
    if (part->is_endless) endless += part->open;
    else others += part->open;
  }
  if (others || feeding) return 0;
  for (int k = 0; k < client.part_count; k++) {
    Part *part = &client.parts[k];
    if (!part->is_endless || !part->open || part->is_endless == 2) continue;
    part->is_endless = 2;
    char text[200];
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"%s\"}}\n", client.sessions[part->first].id);
    put_text(&client.out, text);
  }
  return endless == 0;
}
static void step_round(char *options) {
  read_parts(options);
  long stall_ms = 0;
  uint64_t expected = 0;
  int endless = 0;
  for (int k = 0; k < client.part_count; k++) {
    Part *part = &client.parts[k];
    if (option(part->text, "stall", 0) > stall_ms) stall_ms = option(part->text, "stall", 0);
    endless |= part->is_endless;
    for (int i = part->first; i <= part->last; i++) {
      Session *session = &client.sessions[i];
      session->next = session->digest = session->pushed = 0;
      if (is_option(part->text, "do", "stream")) make_frames(&session->frames, kind_of(part->text), option(part->text, "size", 0), session->id);
      if (part->frames > 0) expected += part->frames;
      if (part->push) make_frames(&session->notes, NOTE, 0, session->id);
    }
  }
  client.frames = client.bytes = 0;
  if (client.bench) client.bench[0] = 0;
  settle();
  reset_peak(client.pid);
  long rss = memory_kb(client.pid, "VmRSS:"), rss_stalled = rss;
  long long cpu = cpu_ns(client.pid), own = own_cpu_ns();
  int64_t from = now_ns();
  for (int k = 0; k < client.part_count; k++)
    for (int i = client.parts[k].first; i <= client.parts[k].last; i++) {
      client.parts[k].open++;
      send_prompt(i, k, client.parts[k].text);
    }
  if (stall_ms) {
    for (int64_t until = from + stall_ms * 1000000LL; now_ns() < until;) {
      turn(1, 20);
      usleep(20000);
      long kb = memory_kb(client.pid, "VmRSS:");
      if (kb > rss_stalled) rss_stalled = kb;
    }
    client.deadline += stall_ms * 1000000LL;
  }
  int64_t resumed = now_ns();
  for (feed(); !is_round_over(); feed()) turn(0, 1000);
  int64_t wall = now_ns() - from, after_stall = now_ns() - resumed;
  long long own_after = own_cpu_ns();
  settle();
  cpu = cpu_ns(client.pid) - cpu;
  uint32_t sum = 0;
  for (int k = 0; k < client.part_count; k++)
    for (int i = client.parts[k].first; i <= client.parts[k].last; i++) sum += client.sessions[i].digest;
  if (!endless && client.frames != expected) client_fail("frames are missing", NULL, 0);
  printf("{\"step\":\"round\",\"wallNs\":%lld,\"cpuNs\":%lld,\"frames\":%llu,\"bytes\":%llu,\"digest\":\"%08x\",\"extras\":%llu,\"loadCpuNs\":%lld,\"firstNs\":%lld,\"rssBeforeKb\":%ld,\"rssStalledKb\":%ld,\"resumeNs\":%lld,\"peakKb\":%ld,\"errors\":%d,\"bench\":[%s]",
         (long long)wall, cpu, (unsigned long long)client.frames, (unsigned long long)client.bytes, sum, (unsigned long long)client.extras, own_after - own,
         (long long)(client.frames ? client.first_ns - from : 0), rss, rss_stalled, (long long)after_stall, memory_kb(client.pid, "VmHWM:"), client.errors, client.bench ? client.bench : "");
}
/* Sends to a session whose agent does not read, until everything that is open has an answer: the proxy must give up on that agent. */
static void step_flood(const char *options) {
  client.part_count = 1;
  memset(client.parts, 0, sizeof client.parts);
  client.parts[0].first = client.parts[0].last = option(options, "s", 0);
  client.parts[0].flood = option(options, "bytes", 1 << 20);
  reset_peak(client.pid);
  long rss = memory_kb(client.pid, "VmRSS:");
  int64_t from = now_ns();
  for (feed(); client.parts[0].flood > 0 || client.open > 0; feed()) turn(0, 1000);
  printf("{\"step\":\"flood\",\"wallNs\":%lld,\"rssBeforeKb\":%ld,\"peakKb\":%ld,\"errors\":%d", (long long)(now_ns() - from), rss, memory_kb(client.pid, "VmHWM:"), client.errors);
}

static int run_client(int argc, char **argv) {
  int steps = 0;
  while (steps < argc && strcmp(argv[steps], "--")) steps++;
  if (steps + 1 >= argc) fail("usage: load client STEP... -- COMMAND ARG...");
  client.timeout_ms = getenv("LOAD_TIMEOUT_MS") ? atol(getenv("LOAD_TIMEOUT_MS")) : 60000;
  int64_t started = now_ns();
  client.deadline = started + client.timeout_ms * 1000000LL;
  client.pid = start(argv + steps + 1, &client.in, &client.from.fd, 0);
  fcntl(client.in, F_SETFL, O_NONBLOCK);
  fcntl(client.from.fd, F_SETFL, O_NONBLOCK);
  for (client.step = 0; client.step < steps; client.step++) {
    char *step = argv[client.step], *options = strchr(step, ':');
    options = options ? options + 1 : step + strlen(step);
    client.deadline = now_ns() + client.timeout_ms * 1000000LL;
    client.errors = 0;
    if (!strcmp(step, "layout:sdk")) {
      layout = 1;
      continue;
    }
    if (!strncmp(step, "init", 4)) step_init(started);
    else if (!strncmp(step, "new", 3)) step_new(options);
    else if (!strncmp(step, "idle", 4)) step_idle(options);
    else if (!strncmp(step, "round", 5)) step_round(options);
    else if (!strncmp(step, "flood", 5)) step_flood(options);
    else fail("no such step");
    printf(",\"rssKb\":%ld}\n", memory_kb(client.pid, "VmRSS:"));
    fflush(stdout);
  }
  close(client.in);
  for (int i = 0; i < 500; i++) {
    if (waitpid(client.pid, NULL, WNOHANG) == client.pid) return 0;
    if (i == 300) kill(client.pid, SIGTERM);
    usleep(10000);
  }
  kill(client.pid, SIGKILL);
  return 0;
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  if (argc > 2 && !strcmp(argv[1], "agent")) run_agent(argv[2]);
  if (argc > 3 && !strcmp(argv[1], "relay")) run_relay(argv + 3);
  if (argc > 3 && !strcmp(argv[1], "client")) return run_client(argc - 2, argv + 2);
  fail("usage: load client|agent|relay ...");
}
