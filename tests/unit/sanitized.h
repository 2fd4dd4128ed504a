/* Under which sanitizer a test was built: UNDER_ADDRESS_SANITIZER and UNDER_THREAD_SANITIZER are 1 or 0. gcc defines a macro
   for each, clang has them as features. */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#ifdef __has_feature
#define SANITIZED_FEATURE(name) __has_feature(name)
#else
#define SANITIZED_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SANITIZED_FEATURE(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER 1
#else
#define UNDER_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__) || SANITIZED_FEATURE(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#else
#define UNDER_THREAD_SANITIZER 0
#endif

#endif
