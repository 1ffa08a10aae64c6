// A switch between network namespaces with delay and loss, for kernels without netem: one TAP device in each namespace,
// frames go out again a fixed time later, or never. Ends with its standard input.
// Arguments: DELAY_US LOSS_PER_MILLE SEED NAMESPACE... ("-" is the namespace of the caller, where the device is "ghf0";
// "eth0" elsewhere). Prints "ready" when all devices are there.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { ports_max = 32, frame_max = 2048, queue_max = 8192 };

struct frame {
  uint64_t due_us;
  int from, length;
  unsigned char bytes[frame_max];
};

static struct frame queue[queue_max];
static unsigned head, tail;
static int taps[ports_max], ports;
static unsigned char known[ports_max][6];

static uint64_t now_us(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * 1000000u + (uint64_t)at.tv_nsec / 1000u;
}

static int fail(const char *what) {
  perror(what);
  exit(1);
}

static void enter(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || setns(file, CLONE_NEWNET) != 0) fail(path);
  close(file);
}

static int open_tap(const char *namespace, const char *home) {
  char path[256];
  int is_own = strcmp(namespace, "-") == 0;
  snprintf(path, sizeof path, "/run/netns/%s", namespace);
  if (!is_own) enter(path);
  int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  struct ifreq wish = {0};
  wish.ifr_flags = IFF_TAP | IFF_NO_PI;
  strcpy(wish.ifr_name, is_own ? "ghf0" : "eth0");
  if (tap < 0 || ioctl(tap, TUNSETIFF, &wish) != 0) fail("a TAP device");
  if (!is_own) enter(home);
  return tap;
}

static void deliver(const struct frame *frame) {
  for (int to = 0; to < ports; to += 1) {
    if (to == frame->from) continue;
    // the low bit of the first byte: for everybody
    if ((frame->bytes[0] & 1) != 0 || memcmp(known[to], frame->bytes, 6) == 0) {
      // a device that is down, or whose queue is full, loses it
      if (write(taps[to], frame->bytes, (size_t)frame->length) < 0) continue;
    }
  }
}

static void take(int from, uint64_t delay_us, int loss) {
  for (;;) {
    struct frame *frame = &queue[tail % queue_max];
    int length = (int)read(taps[from], frame->bytes, frame_max);
    if (length < 14) return;
    memcpy(known[from], frame->bytes + 6, 6);
    if ((int)(random() % 1000) < loss || tail - head == queue_max - 1) continue;
    frame->due_us = now_us() + delay_us;
    frame->from = from;
    frame->length = length;
    tail += 1;
  }
}

int main(int count, char **words) {
  if (count < 5 || count - 4 > ports_max) return fputs("link DELAY_US LOSS_PER_MILLE SEED NAMESPACE...\n", stderr), 2;
  uint64_t delay_us = strtoull(words[1], NULL, 10);
  int loss = atoi(words[2]);
  char home[64];
  snprintf(home, sizeof home, "/proc/%d/ns/net", (int)getpid());
  int own = open(home, O_RDONLY);
  snprintf(home, sizeof home, "/proc/self/fd/%d", own);
  srandom((unsigned)atoi(words[3]));
  struct pollfd waits[ports_max + 1];
  for (ports = 0; ports < count - 4; ports += 1) {
    taps[ports] = open_tap(words[ports + 4], home);
    waits[ports] = (struct pollfd){taps[ports], POLLIN, 0};
  }
  waits[ports] = (struct pollfd){0, POLLIN, 0};
  puts("ready");
  fflush(stdout);
  for (;;) {
    struct timespec wait = {1, 0};
    if (head != tail) {
      uint64_t now = now_us(), due = queue[head % queue_max].due_us;
      wait.tv_sec = 0;
      wait.tv_nsec = due > now ? (long)((due - now) * 1000u) : 0;
    }
    ppoll(waits, (nfds_t)ports + 1, &wait, NULL);
    if (waits[ports].revents != 0) return 0;
    for (int from = 0; from < ports; from += 1)
      if (waits[from].revents != 0) take(from, delay_us, loss);
    for (uint64_t now = now_us(); head != tail && queue[head % queue_max].due_us <= now; head += 1)
      deliver(&queue[head % queue_max]);
  }
}
