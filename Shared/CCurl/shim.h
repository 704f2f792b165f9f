#ifndef KITH_CCURL_H
#define KITH_CCURL_H

// The checks are macros around a variadic function, for compilers of C.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Before any thread uses libcurl.
static inline CURLcode kith_curl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

// Swift cannot call what is variadic: a function for each type of argument.

static inline CURLcode kith_curl_set_number(CURL *curl, CURLoption option, long value) {
  return curl_easy_setopt(curl, option, value);
}

static inline CURLcode kith_curl_set_size(CURL *curl, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(curl, option, value);
}

// libcurl copies the text.
static inline CURLcode kith_curl_set_text(CURL *curl, CURLoption option, const char *value) {
  return curl_easy_setopt(curl, option, value);
}

// libcurl keeps the pointer: the list must outlive the transfer.
static inline CURLcode kith_curl_set_list(CURL *curl, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(curl, option, value);
}

typedef size_t (*kith_curl_reader)(char *into, size_t size, size_t count, void *context);

static inline CURLcode kith_curl_set_reader(CURL *curl, kith_curl_reader reader, void *context) {
  CURLcode code = curl_easy_setopt(curl, CURLOPT_READFUNCTION, reader);
  return code != CURLE_OK ? code : curl_easy_setopt(curl, CURLOPT_READDATA, context);
}

typedef int (*kith_curl_watcher)(
    void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up);

// Asked about once a second, and whenever bytes move; anything but 0 ends the transfer.
static inline CURLcode kith_curl_set_watcher(CURL *curl, kith_curl_watcher watcher, void *context) {
  CURLcode code = curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  if (code == CURLE_OK) code = curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watcher);
  return code != CURLE_OK ? code : curl_easy_setopt(curl, CURLOPT_XFERINFODATA, context);
}

static inline CURLcode kith_curl_response_code(CURL *curl, long *code) {
  return curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, code);
}

#endif
