; Made by llvm_from_c.py from sources with the digest f7bea4c9233478ac9ff6b300eef7fd0e
; with ziglang 0.17.1

define hidden ptr @memset(ptr %0, i32 %1, i64 %2) nounwind {
  %4 = trunc i32 %1 to i8
  %5 = insertelement <32 x i8> poison, i8 %4, i64 0
  %6 = shufflevector <32 x i8> %5, <32 x i8> poison, <32 x i32> zeroinitializer
  %7 = icmp ugt i64 %2, 31
  br i1 %7, label %11, label %8

8:
  %9 = phi i64 [ 0, %3 ], [ %14, %11 ]
  %10 = icmp ult i64 %9, %2
  br i1 %10, label %17, label %22

11:
  %12 = phi i64 [ %14, %11 ], [ 0, %3 ]
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 %12
  store <32 x i8> %6, ptr %13, align 1
  %14 = add i64 %12, 32
  %15 = sub i64 %2, %14
  %16 = icmp ugt i64 %15, 31
  br i1 %16, label %11, label %8

17:
  %18 = phi i64 [ %20, %17 ], [ %9, %8 ]
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 %18
  store i8 %4, ptr %19, align 1
  %20 = add nuw i64 %18, 1
  %21 = icmp eq i64 %20, %2
  br i1 %21, label %22, label %17

22:
  ret ptr %0
}

define hidden ptr @memcpy(ptr %0, ptr %1, i64 %2) nounwind {
  %4 = icmp ugt i64 %2, 31
  br i1 %4, label %8, label %5

5:
  %6 = phi i64 [ 0, %3 ], [ %13, %8 ]
  %7 = icmp ult i64 %6, %2
  br i1 %7, label %16, label %23

8:
  %9 = phi i64 [ %13, %8 ], [ 0, %3 ]
  %10 = getelementptr inbounds nuw i8, ptr %1, i64 %9
  %11 = load <32 x i8>, ptr %10, align 1
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 %9
  store <32 x i8> %11, ptr %12, align 1
  %13 = add i64 %9, 32
  %14 = sub i64 %2, %13
  %15 = icmp ugt i64 %14, 31
  br i1 %15, label %8, label %5

16:
  %17 = phi i64 [ %21, %16 ], [ %6, %5 ]
  %18 = getelementptr inbounds nuw i8, ptr %1, i64 %17
  %19 = load i8, ptr %18, align 1
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 %17
  store i8 %19, ptr %20, align 1
  %21 = add nuw i64 %17, 1
  %22 = icmp eq i64 %21, %2
  br i1 %22, label %23, label %16

23:
  ret ptr %0
}

define hidden ptr @memmove(ptr %0, ptr %1, i64 %2) nounwind {
  %4 = icmp ugt ptr %0, %1
  %5 = icmp ugt i64 %2, 31
  br i1 %4, label %6, label %7

6:
  br i1 %5, label %29, label %26

7:
  br i1 %5, label %11, label %8

8:
  %9 = phi i64 [ 0, %7 ], [ %16, %11 ]
  %10 = icmp ult i64 %9, %2
  br i1 %10, label %19, label %45

11:
  %12 = phi i64 [ %16, %11 ], [ 0, %7 ]
  %13 = getelementptr inbounds nuw i8, ptr %1, i64 %12
  %14 = load <32 x i8>, ptr %13, align 1
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 %12
  store <32 x i8> %14, ptr %15, align 1
  %16 = add i64 %12, 32
  %17 = sub i64 %2, %16
  %18 = icmp ugt i64 %17, 31
  br i1 %18, label %11, label %8

19:
  %20 = phi i64 [ %24, %19 ], [ %9, %8 ]
  %21 = getelementptr inbounds nuw i8, ptr %1, i64 %20
  %22 = load i8, ptr %21, align 1
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 %20
  store i8 %22, ptr %23, align 1
  %24 = add nuw i64 %20, 1
  %25 = icmp eq i64 %24, %2
  br i1 %25, label %45, label %19

26:
  %27 = phi i64 [ %2, %6 ], [ %36, %29 ]
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %45, label %38

29:
  %30 = phi i64 [ %36, %29 ], [ %2, %6 ]
  %31 = getelementptr inbounds nuw i8, ptr %1, i64 %30
  %32 = getelementptr inbounds i8, ptr %31, i64 -32
  %33 = load <32 x i8>, ptr %32, align 1
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 %30
  %35 = getelementptr inbounds i8, ptr %34, i64 -32
  store <32 x i8> %33, ptr %35, align 1
  %36 = add i64 %30, -32
  %37 = icmp ugt i64 %36, 31
  br i1 %37, label %29, label %26

38:
  %39 = phi i64 [ %40, %38 ], [ %27, %26 ]
  %40 = add nsw i64 %39, -1
  %41 = getelementptr inbounds nuw i8, ptr %1, i64 %40
  %42 = load i8, ptr %41, align 1
  %43 = getelementptr inbounds nuw i8, ptr %0, i64 %40
  store i8 %42, ptr %43, align 1
  %44 = icmp eq i64 %40, 0
  br i1 %44, label %45, label %38

45:
  ret ptr %0
}

