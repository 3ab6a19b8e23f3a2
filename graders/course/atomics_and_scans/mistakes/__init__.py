"""The mistakes that learners make in the lesson atomics_and_scans."""
