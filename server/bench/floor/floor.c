/* The floor: the least that a relay must do. Benches state the cost of a relay as a ratio to it.
 *
 * One thread and one epoll set. It accepts connections, parks polls, and moves the bytes of a throw
 * from the thrower's connection to the neighbour's parked poll, with the same recv, send, send,
 * recv that a real relay needs. It hardly parses HTTP: a request is what one recv returns, and its
 * first bytes tell which of three it is. It checks nothing, reads no header, authorises nobody and
 * has no timeouts. Its responses follow the protocol, so the same swarm can drive it and a relay.
 *
 *   floor [API_PORT EVENTS_PORT]     0 picks a port; prints "floor API_PORT EVENTS_PORT PID"
 *
 * Memory: 24 bytes per parked poll (16 per desktop, 8 per descriptor); both tables are allocated at
 * start. Events for a desktop without a parked poll wait in a buffer until its next poll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  kDesktopsMax = 1 << 20,
  kRequestBytesMax = 4096,
  kEventBytesMax = 1400,
  kWaitingBytesMax =
      64 * kEventBytesMax, /* per desktop; a real relay refuses the throw, the floor exits */
  kEventsPerTurn = 256,
};

struct desktop {
  int32_t poll; /* descriptor of the parked poll, or 0 */
  uint32_t seq;
  char* waiting; /* events, each followed by a comma, or NULL */
};

static struct desktop desktops[kDesktopsMax];
static uint32_t count;
static uint32_t width = 1; /* of the torus */
static int ports[2];

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static int listen_on(int port, int* picked) {
  const int on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  socklen_t size = sizeof address;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, (struct sockaddr*)&address, size) != 0) fail("bind");
  if (listen(fd, 65535) != 0) fail("listen");
  getsockname(fd, (struct sockaddr*)&address, &size);
  *picked = ntohs(address.sin_port);
  return fd;
}

static void answer(int fd, const char* status, const char* body, int size) {
  static char out[kWaitingBytesMax + 512];
  const int head =
      sprintf(out, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
              status, size);
  memcpy(out + head, body, (size_t)size);
  /* The swarm would count a response that could not be sent as lost. */
  if (send(fd, out, (size_t)(head + size), MSG_NOSIGNAL) < 0) perror("send");
}

static void answer_poll(struct desktop* desktop, const char* events, int size) {
  static char body[kWaitingBytesMax + 64];
  const int bytes =
      sprintf(body, "{\"cursor\":\"00000001-%u\",\"events\":[%.*s]}", desktop->seq, size, events);
  const int fd = desktop->poll;
  desktop->poll = 0;
  answer(fd, "200 OK", body, bytes);
}

static void join(int fd) {
  char body[512];
  const uint32_t k = count;
  if (k == kDesktopsMax) {
    answer(fd, "503 Service Unavailable", "{\"code\":\"relay-full\"}", 21);
    return;
  }
  ++count;
  while ((uint64_t)width * width * 4 <= count) width *= 2;
  answer(fd, "201 Created", body,
         sprintf(body,
                 "{\"desktop\":\"%x-1\",\"token\":\"%x-1.%032x\",\"world\":\"commons\",\"cursor\":"
                 "\"00000001-0\","
                 "\"events\":\"http://127.0.0.1:%d/v1/desktops/%x-1/events\","
                 "\"crossings\":\"http://127.0.0.1:%d/v1/desktops/%x-1/crossings\"}",
                 k, k, k, ports[1], k, ports[0], k));
}

static void park(int fd, uint32_t k) {
  struct desktop* desktop = &desktops[k];
  desktop->poll = fd;
  if (desktop->waiting == NULL) return;
  answer_poll(desktop, desktop->waiting, (int)strlen(desktop->waiting) - 1);
  free(desktop->waiting);
  desktop->waiting = NULL;
}

static void deliver(uint32_t to, const char* event, int size) {
  struct desktop* desktop = &desktops[to];
  if (desktop->poll != 0) {
    answer_poll(desktop, event, size);
    return;
  }
  if (desktop->waiting == NULL) desktop->waiting = calloc(1, kWaitingBytesMax);
  const size_t used = strlen(desktop->waiting);
  if (used + (size_t)size + 2 > kWaitingBytesMax) fail("a mailbox is full");
  sprintf(desktop->waiting + used, "%.*s,", size, event);
}

static void cross(int fd, uint32_t from, const char* request) {
  static const char* const kOpposite[] = {"right", "left", "bottom", "top"};
  char event[kEventBytesMax];
  char to_text[96];
  const char* const edge = strstr(request, "\"edge\":\"");
  const char* const rest = edge == NULL ? NULL : strstr(edge, "\"at\"");
  if (rest == NULL) {
    answer(fd, "400 Bad Request", "{\"code\":\"malformed\"}", 20);
    return;
  }
  const int way = edge[8] == 'l' ? 0 : edge[8] == 'r' ? 1 : edge[8] == 't' ? 2 : 3;
  const uint32_t step = way < 2 ? 1 : width;
  const uint32_t to = (from + (way % 2 == 1 ? step : count - step)) % count;
  answer(fd, "202 Accepted", to_text,
         sprintf(to_text, "{\"to\":{\"desktop\":\"%x-1\",\"name\":\"\"}}", to));
  const int size =
      snprintf(event, sizeof event,
               "{\"type\":\"sprite\",\"seq\":%u,\"from\":{\"desktop\":\"%x-1\",\"name\":\"\"},"
               "\"edge\":\"%s\",%s",
               ++desktops[to].seq, from, kOpposite[way], rest);
  deliver(to, event, size);
}

static void serve(int fd, uint32_t* desktop_of) {
  char request[kRequestBytesMax + 1];
  const ssize_t got = recv(fd, request, kRequestBytesMax, 0);
  if (got <= 0) {
    if (desktops[desktop_of[fd]].poll == fd) desktops[desktop_of[fd]].poll = 0;
    close(fd);
    return;
  }
  request[got] = '\0';
  /* "GET /v1/desktops/{id}…", "POST /v1/desktops/{id}…", "POST /v1/desktops …" */
  const int get = request[0] == 'G';
  const char* const id = request + (get ? 17 : 18);
  if (request[0] == 'D') {
    answer(fd, "204 No Content", "", 0);
    return;
  }
  if (got < 20 || (get ? 0 : request[17] != '/')) {
    join(fd);
    return;
  }
  const uint32_t k = (uint32_t)strtoul(id, NULL, 16);
  if (k >= count) {
    answer(fd, "401 Unauthorized", "{\"code\":\"unknown-desktop\"}", 26);
  } else if (get) {
    desktop_of[fd] = k;
    park(fd, k);
  } else {
    cross(fd, k, request);
  }
}

int main(int argc, char** argv) {
  const int on = 1;
  struct epoll_event events[kEventsPerTurn];
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  uint32_t* const desktop_of = calloc(files.rlim_max, sizeof *desktop_of);
  const int epoll = epoll_create1(0);
  int listeners[2];
  for (int i = 0; i < 2; ++i) {
    listeners[i] = listen_on(argc == 3 ? atoi(argv[1 + i]) : 8080 + i, &ports[i]);
    events[0] = (struct epoll_event){.events = EPOLLIN, .data.fd = listeners[i]};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listeners[i], &events[0]);
  }
  printf("floor %d %d %d\n", ports[0], ports[1], (int)getpid());
  fflush(stdout);
  for (;;) {
    const int ready = epoll_wait(epoll, events, kEventsPerTurn, -1);
    for (int i = 0; i < ready; ++i) {
      const int fd = events[i].data.fd;
      if (fd != listeners[0] && fd != listeners[1]) {
        serve(fd, desktop_of);
        continue;
      }
      const int accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
      /* Without a descriptor, the rest of the swarm would wait for ever. */
      if (accepted < 0 && (errno == EMFILE || errno == ENFILE)) fail("accept");
      if (accepted < 0) continue;
      setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      struct epoll_event wanted = {.events = EPOLLIN, .data.fd = accepted};
      epoll_ctl(epoll, EPOLL_CTL_ADD, accepted, &wanted);
    }
  }
}
